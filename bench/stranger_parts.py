"""Networks that no package has, drawn as such networks are: speech, text, graphs; and parts of others, for make_strangers.py."""

import torch
import transformers
from torch import nn
from torch.nn import functional


class Decoder(nn.Module):
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, tokens, encoded):
        return self.model(tokens, encoder_hidden_states=encoded, use_cache=False).last_hidden_state


class Flow(nn.Module):
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, first, second):
        return self.model(first, second, num_flow_updates=3)[-1]


def sam_encoder():
    from transformers.models.sam.modeling_sam import SamVisionEncoder
    config = transformers.SamVisionConfig(hidden_size=192, num_hidden_layers=4, num_attention_heads=3, image_size=512,
                                          global_attn_indexes=[1, 3], mlp_dim=768, output_channels=64)
    config._attn_implementation = "eager"

    class First(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = SamVisionEncoder(config)

        def forward(self, picture):
            return self.model(picture)[0]

    return First(), (torch.randn(1, 3, 512, 512),)


class GraphConvolution(nn.Module):
    def __init__(self, attends: bool):
        super().__init__()
        self.attends = attends
        self.first, self.messages = nn.Linear(32, 128), nn.ModuleList(nn.Linear(256, 128) for _ in range(3))
        self.score, self.last = nn.Linear(128, 1), nn.Linear(128, 8)

    def forward(self, nodes, edges):
        source, target = edges[0], edges[1]
        hidden = self.first(nodes)
        for layer in self.messages:
            message = functional.silu(layer(torch.cat([hidden[source], hidden[target]], -1)))
            if self.attends:
                weight = torch.exp(self.score(message))
                total = torch.zeros(hidden.shape[0], 1).index_add(0, target, weight)
                message = message * weight / total[target]
            hidden = hidden + torch.zeros_like(hidden).scatter_add(0, target[:, None].expand_as(message), message)
        return self.last(hidden.mean(0))


def graph_inputs():
    return torch.randn(500, 32), torch.randint(0, 500, (2, 4000))


def graph_convolution():
    return GraphConvolution(False), graph_inputs()


def graph_attention():
    return GraphConvolution(True), graph_inputs()


class Attacut(nn.Module):
    """Words of a text of characters, of which convolutions of three dilations take the greatest."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(200, 32)
        self.windows = nn.ModuleList(nn.Conv1d(32, 128, size, padding=size // 2, dilation=1) for size in (3, 5, 9))
        self.last = nn.Linear(128, 2)

    def forward(self, characters):
        hidden = self.table(characters).transpose(1, 2)
        found = torch.stack([window(hidden) for window in self.windows], -1)
        return torch.sigmoid(self.last(torch.relu(found.max(-1).values).transpose(1, 2)))


def attacut():
    return Attacut(), (torch.randint(0, 200, (1, 1000)),)


class Crnn(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (1, 32, 64, 128, 128)
        self.windows = nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in (
            nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d((2, 2) if b < 128 else (2, 1)))))
        self.lines = nn.LSTM(256, 128, num_layers=2, bidirectional=True)
        self.last = nn.Linear(256, 100)

    def forward(self, picture):
        found = self.windows(picture)
        hidden, _ = self.lines(found.flatten(1, 2).permute(2, 0, 1))
        return functional.log_softmax(self.last(hidden), -1)


def crnn():
    return Crnn(), (torch.randn(1, 1, 32, 256),)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.words = nn.Embedding(5000, 128), nn.LSTM(128, 200, batch_first=True, bidirectional=True)
        self.last = nn.Linear(400, 20)

    def forward(self, tokens):
        return self.last(self.words(self.table(tokens))[0])


def tagger():
    return Tagger(), (torch.randint(0, 5000, (1, 40)),)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.GRU(257, 128, batch_first=True), nn.LSTM(128, 128, batch_first=True)
        self.last = nn.Linear(128, 257)

    def forward(self, spectrum):
        hidden, _ = self.first(torch.log(spectrum * spectrum + 1e-7))
        hidden, _ = self.second(hidden)
        return torch.sigmoid(self.last(hidden)) * spectrum


def denoiser():
    return Denoiser(), (torch.randn(1, 100, 257),)


class Spectrogram(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(400))
        self.register_buffer("mel", torch.rand(201, 80))
        self.layers = nn.Sequential(nn.Conv1d(80, 128, 3, padding=1), nn.GELU(), nn.Conv1d(128, 128, 3, stride=2, padding=1), nn.GELU())

    def forward(self, sound):
        spectrum = torch.view_as_real(torch.stft(sound, 400, 160, window=self.window, return_complex=True))
        power = spectrum.pow(2).sum(-1).transpose(1, 2)
        return self.layers(torch.log10(torch.clamp(power @ self.mel, min=1e-10)).transpose(1, 2))


def spectrogram():
    return Spectrogram(), (torch.randn(1, 48000),)


class TasBlock(nn.Module):
    def __init__(self, dilation: int):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(64, 128, 1), nn.PReLU(), nn.GroupNorm(1, 128),
                                    nn.Conv1d(128, 128, 3, padding=dilation, dilation=dilation, groups=128), nn.PReLU(),
                                    nn.GroupNorm(1, 128), nn.Conv1d(128, 64, 1))

    def forward(self, hidden):
        return hidden + self.layers(hidden)


class ConvTasnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.blocks = nn.Conv1d(1, 64, 16, stride=8), nn.Sequential(*(TasBlock(2**i) for i in range(6)))
        self.mask, self.last = nn.Conv1d(64, 128, 1), nn.ConvTranspose1d(64, 1, 16, stride=8)

    def forward(self, sound):
        hidden = self.first(sound)
        masks = torch.sigmoid(self.mask(self.blocks(hidden))).unflatten(1, (2, 64))
        return self.last((masks * hidden[:, None]).flatten(0, 1))


def conv_tasnet():
    return ConvTasnet(), (torch.randn(1, 1, 16000),)


class SpelledHardSwish(nn.Module):
    def forward(self, x):
        return x * torch.clamp(x + 3, 0, 6) / 6


class PaddleRec(nn.Module):
    """Text recognition of few channels, with HardSwish in five operators and GELU by erf behind pointwise convolutions."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), SpelledHardSwish()]
        for a, b in ((16, 32), (32, 64), (64, 128), (128, 256), (256, 256)):
            layers += [nn.Conv2d(a, a, 3, stride=(2, 1) if b > 64 else 1, padding=1, groups=a), nn.BatchNorm2d(a), SpelledHardSwish(),
                       nn.Conv2d(a, b, 1), nn.BatchNorm2d(b), SpelledHardSwish() if b < 256 else nn.GELU()]
        self.layers, self.last = nn.Sequential(*layers), nn.Linear(256, 500)

    def forward(self, picture):
        return torch.softmax(self.last(self.layers(picture).mean(2).transpose(1, 2)), -1)


def paddle_rec():
    return PaddleRec(), (torch.randn(1, 3, 48, 320),)


class LongVocoder(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (64, 32, 16, 8)
        self.first = nn.Conv1d(80, 64, 7, padding=3)
        self.rise = nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in (
            nn.LeakyReLU(0.1), nn.ConvTranspose1d(a, b, 8, 4, padding=2), nn.Conv1d(b, b, 7, padding=9, dilation=3))))
        self.last = nn.Conv1d(8, 1, 7, padding=3)

    def forward(self, spectrum):
        return torch.tanh(self.last(self.rise(self.first(spectrum))))


def long_vocoder():
    return LongVocoder(), (torch.randn(1, 80, 150),)
