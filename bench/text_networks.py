"""Networks of text with random weights as PyTorch writes them, for bench/gpu.py: BERT base, GPT-2 on a prompt, and one step
of its decoding with what it keeps of 127 tokens."""

import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, WORDS, TOKENS = 768, 12, 12, 50257, 128


class Block(nn.Module):
    def __init__(self, is_decoder):
        super().__init__()
        self.is_decoder = is_decoder
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def attention(self, x, past):
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        made = functional.scaled_dot_product_attention(q, k, v, is_causal=self.is_decoder and past is None)
        return self.out(made.transpose(1, 2).reshape(batch, tokens, WIDTH)), (k, v)

    def forward(self, x, past=None):
        """The result, and keys and values of all tokens so far."""
        if self.is_decoder:
            made, kept = self.attention(self.first(x), past)
            x = x + made
            return x + self.down(functional.gelu(self.up(self.second(x)), approximate="tanh")), kept
        made, kept = self.attention(x, past)
        x = self.first(x + made)
        return self.second(x + self.down(functional.gelu(self.up(x)))), kept


class Network(nn.Module):
    def __init__(self, is_decoder):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(1024, WIDTH)
        self.blocks = nn.ModuleList(Block(is_decoder) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.is_decoder = is_decoder

    def forward(self, ids, *past):
        first = past[0].shape[2] if past else 0
        x = self.words(ids) + self.places.weight[first : first + ids.shape[1]]
        kept = []
        for i, block in enumerate(self.blocks):
            x, (k, v) = block(x, past[2 * i : 2 * i + 2] if past else None)
            kept += [k, v]
        x = self.norm(x)
        if not self.is_decoder:
            return x
        logits = functional.linear(x, self.words.weight)
        return (logits, *kept) if past else logits


def made(name, batch):
    """The network of a name, and its inputs."""
    torch.manual_seed(0)
    network = Network(is_decoder=name != "bert_base").eval()
    if name != "gpt2_step":
        return network, (torch.randint(0, WORDS, (batch, TOKENS)),)
    past = [torch.randn(batch, HEADS, TOKENS - 1, WIDTH // HEADS) for _ in range(2 * LAYERS)]
    return network, (torch.randint(0, WORDS, (batch, 1)), *past)
