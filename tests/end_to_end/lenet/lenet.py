from mindspore import nn


class LeNet5(nn.Cell):
    def __init__(self, num_class=4, num_channel=1):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 3, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 8, 3, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(8 * 2 * 2, 24)
        self.dropout = nn.Dropout(p=0.3)
        self.fc2 = nn.Dense(24, num_class)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.dropout(self.relu(self.fc1(self.flatten(x))))
        return self.fc2(x)
