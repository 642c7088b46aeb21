import torch
from torch import nn


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.5):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        nn.init.uniform_(self.encoder.weight, -initrange, initrange)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -initrange, initrange)

    def forward(self, tokens, hidden=None):
        embedded = self.drop(self.encoder(tokens)).unsqueeze(1)
        output, hidden = self.rnn(embedded, hidden)
        return self.decoder(self.drop(output.squeeze(1))), hidden

    @torch.no_grad()
    def generate(self, token, count):
        self.eval()
        hidden, tokens = None, [token]
        for _ in range(count):
            logits, hidden = self(torch.tensor(tokens[-1:]), hidden)
            tokens.append(torch.multinomial(logits[-1].softmax(-1), 1).item())
        return tokens
