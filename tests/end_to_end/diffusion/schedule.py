import torch


class Schedule:
    """DDPM's linear schedule of noise."""

    def __init__(self, steps, device, start=1e-4, end=0.02):
        self.steps = steps
        self.betas = torch.linspace(start, end, steps, device=device)
        self.alphas = 1 - self.betas
        self.products = torch.cumprod(self.alphas, dim=0)

    def add_noise(self, clean, noise, timesteps):
        product = self.products[timesteps].view(-1, 1, 1, 1)
        return product.sqrt() * clean + (1 - product).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, shape, device):
        x = torch.randn(shape, device=device)
        for t in reversed(range(self.steps)):
            predicted = model(x, torch.full((shape[0],), t, device=device))
            x = (x - self.betas[t] / (1 - self.products[t]).sqrt() * predicted) / self.alphas[t].sqrt()
            if t > 0:
                x = x + self.betas[t].sqrt() * torch.randn_like(x)
        return x
