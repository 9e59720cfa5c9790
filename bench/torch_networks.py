"""Networks with random weights as PyTorch writes them, for bench/gpu.py: BERT base, GPT-2 on a prompt, one step of decoding
of GPT-2 and of a Llama of 1.1 B parameters with what they keep of 127 tokens, YOLOv5s, and single products."""

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


class RootNorm(nn.RMSNorm):
    """A norm that is spelled out in ONNX files, whose older operator sets have none."""

    def forward(self, x):
        if not torch.onnx.is_in_onnx_export():
            return super().forward(x)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class LlamaBlock(nn.Module):
    WIDTH, HEADS, GROUPS, INNER, HEAD = 2048, 32, 4, 5632, 64

    def __init__(self):
        super().__init__()
        self.q, self.out = (nn.Linear(self.WIDTH, self.WIDTH, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(self.WIDTH, self.GROUPS * self.HEAD, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(self.WIDTH, self.INNER, bias=False) for _ in range(2))
        self.down = nn.Linear(self.INNER, self.WIDTH, bias=False)
        self.first, self.second = RootNorm(self.WIDTH, 1e-6), RootNorm(self.WIDTH, 1e-6)

    def turned(self, x, cosine, sine):
        left, right = x.chunk(2, -1)
        return x * cosine + torch.cat([-right, left], -1) * sine

    def forward(self, x, past, cosine, sine):
        given = self.first(x)
        q, k, v = (made(given).view(x.shape[0], -1, heads, self.HEAD).transpose(1, 2)
                   for made, heads in ((self.q, self.HEADS), (self.k, self.GROUPS), (self.v, self.GROUPS)))
        k = torch.cat([past[0], self.turned(k, cosine, sine)], 2)
        v = torch.cat([past[1], v], 2)
        repeats = self.HEADS // self.GROUPS
        seen = functional.scaled_dot_product_attention(self.turned(q, cosine, sine), k.repeat_interleave(repeats, 1),
                                                       v.repeat_interleave(repeats, 1))
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        given = self.second(x)
        return x + self.down(functional.silu(self.gate(given)) * self.up(given)), (k, v)


class Llama(nn.Module):
    WORDS, LAYERS = 32000, 22

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(self.WORDS, LlamaBlock.WIDTH)
        self.blocks = nn.ModuleList(LlamaBlock() for _ in range(self.LAYERS))
        self.norm = RootNorm(LlamaBlock.WIDTH, 1e-6)
        self.head = nn.Linear(LlamaBlock.WIDTH, self.WORDS, bias=False)
        angle = (TOKENS - 1) / 10000 ** (torch.arange(0, LlamaBlock.HEAD, 2) / LlamaBlock.HEAD)
        self.register_buffer("cosine", angle.cos().repeat(2))
        self.register_buffer("sine", angle.sin().repeat(2))

    def forward(self, ids, *past):
        x = self.words(ids)
        kept = []
        for i, block in enumerate(self.blocks):
            x, (k, v) = block(x, past[2 * i : 2 * i + 2], self.cosine, self.sine)
            kept += [k, v]
        return (self.head(self.norm(x)), *kept)


def conv(inputs, outputs, size, stride=1, pad=None):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2 if pad is None else pad, bias=False),
                         nn.BatchNorm2d(outputs), nn.SiLU())


class Crossed(nn.Module):
    def __init__(self, inputs, outputs, count, shortcut=True):
        super().__init__()
        half = outputs // 2
        self.a, self.b, self.out = conv(inputs, half, 1), conv(inputs, half, 1), conv(outputs, outputs, 1)
        self.steps = nn.ModuleList(nn.Sequential(conv(half, half, 1), conv(half, half, 3)) for _ in range(count))
        self.shortcut = shortcut

    def forward(self, x):
        a = self.a(x)
        for step in self.steps:
            a = a + step(a) if self.shortcut else step(a)
        return self.out(torch.cat([a, self.b(x)], 1))


class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.begin = nn.Sequential(conv(3, 32, 6, 2, 2), conv(32, 64, 3, 2), Crossed(64, 64, 1), conv(64, 128, 3, 2))
        self.p3 = Crossed(128, 128, 2)
        self.p4 = nn.Sequential(conv(128, 256, 3, 2), Crossed(256, 256, 3))
        self.p5 = nn.Sequential(conv(256, 512, 3, 2), Crossed(512, 512, 1), conv(512, 256, 1))
        self.pool, self.n5 = nn.MaxPool2d(5, 1, 2), nn.Sequential(conv(1024, 512, 1), conv(512, 256, 1))
        self.n4 = nn.Sequential(Crossed(512, 256, 1, False), conv(256, 128, 1))
        self.o3, self.d4 = Crossed(256, 128, 1, False), conv(128, 128, 3, 2)
        self.o4, self.d5 = Crossed(256, 256, 1, False), conv(256, 256, 3, 2)
        self.o5 = Crossed(512, 512, 1, False)
        self.heads = nn.ModuleList(nn.Conv2d(width, 255, 1) for width in (128, 256, 512))

    def forward(self, x):
        p3 = self.p3(self.begin(x))
        p4 = self.p4(p3)
        levels = [self.p5(p4)]
        for _ in range(3):
            levels.append(self.pool(levels[-1]))
        n5 = self.n5(torch.cat(levels, 1))
        n4 = self.n4(torch.cat([functional.interpolate(n5, scale_factor=2.0), p4], 1))
        o3 = self.o3(torch.cat([functional.interpolate(n4, scale_factor=2.0), p3], 1))
        o4 = self.o4(torch.cat([self.d4(o3), n4], 1))
        o5 = self.o5(torch.cat([self.d5(o4), n5], 1))
        return torch.cat([self.detections(head, x) for head, x in zip(self.heads, (o3, o4, o5))], 1)

    @staticmethod
    def detections(head, x):
        y = head(x).view(x.shape[0], 3, 85, *x.shape[2:]).permute(0, 1, 3, 4, 2)
        return torch.sigmoid(y).reshape(x.shape[0], -1, 85)


def kept(batch, layers, heads):
    return [torch.randn(batch, heads, TOKENS - 1, 64) for _ in range(2 * layers)]


def product(sizes, batch):
    rows, columns, depth = (int(size) for size in sizes.split("x"))
    return nn.Linear(depth, columns, bias=False), (torch.randn(batch * rows, depth),)


def made(name, batch):
    """The network of a name, and its inputs; None where there is no such name. A product: product_ROWSxCOLUMNSxDEPTH."""
    torch.manual_seed(0)
    if name.startswith("product_"):
        return product(name.removeprefix("product_"), batch)
    if name == "yolov5s":
        return Yolo().eval(), (torch.randn(batch, 3, 640, 640),)
    if name in ("bert_base", "gpt2"):
        return Network(is_decoder=name == "gpt2").eval(), (torch.randint(0, WORDS, (batch, TOKENS)),)
    if name == "gpt2_step":
        return Network(is_decoder=True).eval(), (torch.randint(0, WORDS, (batch, 1)), *kept(batch, LAYERS, HEADS))
    if name == "llama_step":
        past = kept(batch, Llama.LAYERS, LlamaBlock.GROUPS)
        return Llama().eval(), (torch.randint(0, Llama.WORDS, (batch, 1)), *past)
    return None
