#!/usr/bin/env python3
"""Networks with random weights as strangers export them, for strangers.py: NAME.onnx, and inputs in NAME.npz.

    make_strangers.py FOLDER [--only WORD...] [--list]

Needs torch, torchvision, timm, transformers, diffusers, onnxscript and onnxruntime. Those of `dy` are written by
torch.export, of `ts` by TorchScript, both in the operator set of their number; `dynamic` and `static` are quantised by
ONNX Runtime afterwards. Models that are there are not made again, and one that cannot be made says why.
"""

import argparse
import contextlib
import dataclasses
import functools
import io
import pathlib
import sys
import warnings
from collections.abc import Callable

import numpy as np
import onnx
import timm
import torch
import torchvision
import transformers
from torch import nn

import stranger_parts as parts

Made = tuple[nn.Module, tuple]
STATIC, DYNAMIC = "static", "dynamic"


@dataclasses.dataclass
class Stranger:
    name: str
    exporter: str  # dy or ts
    opset: int
    make: Callable[[], Made]
    quantised: str = ""

    @property
    def title(self) -> str:
        return "_".join(filter(None, (self.name, f"{self.exporter}{self.opset}", self.quantised)))


class Plain(nn.Module):
    """What a model of Hugging Face gives, as a tuple of tensors."""

    def __init__(self, model: nn.Module, **fixed):
        super().__init__()
        self.model, self.fixed = model, fixed

    def forward(self, *inputs):
        given = self.model(*inputs, **self.fixed)
        found = given if isinstance(given, torch.Tensor) else given.to_tuple() if hasattr(given, "to_tuple") else given
        return tuple(value for value in found if isinstance(value, torch.Tensor)) if isinstance(found, tuple) else found


def picture(size: int = 224) -> tuple:
    return (torch.randn(1, 3, size, size),)


def vision(name: str, size: int = 224, **settings) -> Callable[[], Made]:
    return lambda: (torchvision.models.get_model(name, weights=None, **settings), picture(size))


def timed(name: str, size: int = 224, **settings) -> Callable[[], Made]:
    return lambda: (timm.create_model(name, exportable=True, **settings), picture(size))


def tokens(length: int, most: int = 1000) -> torch.Tensor:
    return torch.randint(1, most, (1, length))


def face(kind: str, inputs: Callable[[], tuple], fixed: dict | None = None, model: str = "Model", **settings) -> Callable[[], Made]:
    """A model of Hugging Face by the stem of its classes."""
    def make() -> Made:
        config = getattr(transformers, f"{kind}Config")(**settings)
        config._attn_implementation = "eager" if kind in ("Sam",) else "sdpa"
        try:
            made = getattr(transformers, f"{kind}{model}")(config)
        except ValueError:  # it knows no sdpa
            config._attn_implementation = "eager"
            made = getattr(transformers, f"{kind}{model}")(config)
        return Plain(made, **(fixed or {})), inputs()
    return make


def words(length: int = 64) -> Callable[[], tuple]:
    return lambda: (tokens(length),)


SMALL = {"vocab_size": 1000, "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
DECODER = SMALL | {"num_key_value_heads": 2, "max_position_embeddings": 512}
NO_CACHE = {"use_cache": False}
SOUND = lambda: (torch.randn(1, 16000),)
WAVES = {"hidden_size": 192, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 768,
         "conv_dim": (128,) * 7, "num_conv_pos_embedding_groups": 16}


def whisper_part(part: str) -> Made:
    config = transformers.WhisperConfig(d_model=256, encoder_layers=4, decoder_layers=4, encoder_attention_heads=4,
                                        decoder_attention_heads=4, encoder_ffn_dim=1024, decoder_ffn_dim=1024)
    model = transformers.WhisperModel(config)
    if part == "encoder":
        return Plain(model.encoder), (torch.randn(1, 80, 3000),)
    return parts.Decoder(model.decoder), (tokens(16), torch.randn(1, 1500, 256))


def diffuser(kind: str) -> Made:
    import diffusers
    if kind == "unet":
        model = diffusers.UNet2DConditionModel(sample_size=32, block_out_channels=(64, 128, 256, 256), cross_attention_dim=256,
                                               attention_head_dim=8)
        return Plain(model), (torch.randn(1, 4, 32, 32), torch.tensor([5]), torch.randn(1, 77, 256))
    if kind == "dit":
        model = diffusers.DiTTransformer2DModel(num_attention_heads=6, attention_head_dim=64, num_layers=4, sample_size=32)
        return Plain(model), (torch.randn(1, 4, 32, 32), torch.tensor([5]), torch.tensor([3]))
    model = diffusers.AutoencoderKL(block_out_channels=(32, 64, 128), down_block_types=("DownEncoderBlock2D",) * 3,
                                    up_block_types=("UpDecoderBlock2D",) * 3, latent_channels=4)
    return Plain(model.decoder), (torch.randn(1, 4, 24, 24),)


def raft() -> Made:
    return parts.Flow(torchvision.models.optical_flow.raft_small(weights=None)), (*picture(128), *picture(128))


def speech(kind: str) -> Made:
    if kind == "hifigan":
        model = transformers.SpeechT5HifiGan(transformers.SpeechT5HifiGanConfig(upsample_initial_channel=128))
        return model, (torch.randn(1, 60, 80),)
    model = transformers.EncodecModel(transformers.EncodecConfig(num_filters=16, hidden_size=64))
    return Plain(model.encoder if kind == "encodec_encoder" else model.decoder), (
        torch.randn(1, 1, 12000) if kind == "encodec_encoder" else torch.randn(1, 64, 40),)


VISION = [Stranger(name, exporter, opset, vision(name, size)) for name, exporter, opset, size in (
    ("mobilenet_v3_small", "ts", 17, 224), ("shufflenet_v2_x1_0", "ts", 13, 224), ("squeezenet1_1", "dy", 18, 224),
    ("efficientnet_b0", "dy", 18, 224), ("densenet121", "ts", 17, 224), ("regnet_y_400mf", "dy", 20, 224),
    ("convnext_tiny", "ts", 17, 128), ("swin_t", "ts", 17, 224), ("swin_t", "dy", 18, 224), ("swin_v2_t", "ts", 17, 256),
    ("swin_v2_t", "dy", 18, 256), ("mnasnet0_5", "dy", 21, 224), ("googlenet", "ts", 17, 224), ("resnext50_32x4d", "ts", 17, 128),
    ("vgg11_bn", "dy", 18, 96))] + [
    Stranger("lraspp_mobilenet_v3_large", "ts", 17, vision("lraspp_mobilenet_v3_large", 256, weights_backbone=None))]
TIMM = [Stranger(name, exporter, opset, timed(name, size)) for name, exporter, opset, size in (
    ("eva02_tiny_patch14_224", "dy", 20, 224), ("maxvit_pico_rw_256", "ts", 17, 256), ("xcit_nano_12_p16_224", "dy", 18, 224),
    ("fastvit_t8", "dy", 18, 256), ("mobilenetv4_conv_small", "dy", 18, 224), ("mobilevit_xs", "ts", 17, 256),
    ("efficientvit_b0", "dy", 18, 224), ("efficientvit_m0", "ts", 17, 224), ("convnext_atto", "dy", 20, 224),
    ("convnextv2_atto", "ts", 17, 224), ("tiny_vit_5m_224", "dy", 18, 224), ("levit_128s", "ts", 17, 224),
    ("repvit_m0_9", "dy", 18, 224), ("ghostnet_100", "ts", 17, 224), ("edgenext_xx_small", "dy", 18, 256),
    ("eca_nfnet_l0", "ts", 17, 160), ("poolformer_s12", "dy", 18, 160), ("coat_lite_tiny", "ts", 17, 224),
    ("pvt_v2_b0", "dy", 18, 224), ("hgnetv2_b0", "ts", 17, 224), ("mambaout_femto", "dy", 18, 224),
    ("deit_tiny_patch16_224", "dy", 23, 224), ("resmlp_12_224", "ts", 17, 224), ("hrnet_w18_small", "ts", 17, 160),
    ("tf_mixnet_s", "ts", 17, 224), ("inception_next_atto", "dy", 18, 224), ("rexnet_100", "dy", 18, 224),
    ("cait_xxs24_224", "ts", 17, 224))]
FACES = [Stranger(name, exporter, opset, make) for name, exporter, opset, make in (
    ("distilbert", "ts", 17, face("DistilBert", words(), vocab_size=1000, dim=256, n_layers=4, n_heads=4, hidden_dim=1024)),
    ("deberta", "ts", 17, face("DebertaV2", words(), **SMALL, relative_attention=True, position_buckets=32, pos_att_type=["p2c", "c2p"])),
    ("t5_encoder", "dy", 18, face("T5", words(), model="EncoderModel", vocab_size=1000, d_model=256, d_kv=32, num_layers=4, num_heads=8, d_ff=1024)),
    ("roformer", "ts", 17, face("RoFormer", words(), **SMALL, embedding_size=256)),
    ("mamba", "ts", 17, face("Mamba", words(32), NO_CACHE, vocab_size=1000, hidden_size=192, num_hidden_layers=2, state_size=16)),
    ("mamba", "dy", 18, face("Mamba", words(32), NO_CACHE, vocab_size=1000, hidden_size=192, num_hidden_layers=2, state_size=16)),
    ("mixtral", "dy", 18, face("Mixtral", words(48), NO_CACHE, **DECODER, num_local_experts=4, experts_implementation="batched_mm")),
    ("llama", "dy", 20, face("Llama", words(), NO_CACHE, **DECODER)),
    ("qwen3", "dy", 23, face("Qwen3", words(), NO_CACHE, **DECODER, head_dim=64)),
    ("gemma2", "dy", 18, face("Gemma2", words(), NO_CACHE, **DECODER, head_dim=64)),
    ("gpt_neox", "dy", 18, face("GPTNeoX", words(), NO_CACHE, **SMALL)),
    ("whisper_encoder", "dy", 18, lambda: whisper_part("encoder")), ("whisper_decoder", "dy", 18, lambda: whisper_part("decoder")),
    ("wav2vec2", "ts", 17, face("Wav2Vec2", SOUND, **WAVES)),
    ("conformer", "dy", 18, face("Wav2Vec2Conformer", SOUND, **WAVES, position_embeddings_type="relative")),
    ("ast", "dy", 18, face("ASTModel"[:3], lambda: (torch.randn(1, 512, 128),), **{key: SMALL[key] for key in SMALL if key != "vocab_size"}, max_length=512)),
    ("segformer", "ts", 17, face("Segformer", lambda: picture(256), model="ForSemanticSegmentation")),
    ("dinov2", "dy", 18, face("Dinov2", picture, **{key: SMALL[key] for key in SMALL if key != "vocab_size"})),
    ("sam_encoder", "dy", 18, lambda: parts.sam_encoder()), ("sam_encoder", "ts", 17, lambda: parts.sam_encoder()),
    ("hifigan", "ts", 17, lambda: speech("hifigan")), ("encodec_encoder", "ts", 17, lambda: speech("encodec_encoder")),
    ("encodec_decoder", "ts", 17, lambda: speech("encodec_decoder")),
    ("unet_sd", "dy", 18, lambda: diffuser("unet")), ("dit", "dy", 18, lambda: diffuser("dit")),
    ("vae_decoder", "ts", 17, lambda: diffuser("vae")), ("raft_small", "dy", 18, raft))]
OWN = [Stranger(name, exporter, opset, make) for name, exporter, opset, make in (
    ("graph_convolution", "dy", 18, parts.graph_convolution), ("graph_attention", "dy", 18, parts.graph_attention),
    ("attacut", "ts", 17, parts.attacut), ("crnn", "ts", 17, parts.crnn), ("denoiser", "ts", 17, parts.denoiser),
    ("spectrogram", "dy", 18, parts.spectrogram), ("conv_tasnet", "ts", 17, parts.conv_tasnet),
    ("paddle_rec", "ts", 17, parts.paddle_rec), ("long_vocoder", "ts", 17, parts.long_vocoder))]
QUANTISED = [Stranger(name, "ts", 17, make, quantised) for name, make, quantised in (
    ("distilbert", FACES[0].make, DYNAMIC), ("crnn", parts.crnn, DYNAMIC), ("tagger", parts.tagger, DYNAMIC),
    ("denoiser", parts.denoiser, DYNAMIC), ("resnet18", vision("resnet18", 160), STATIC),
    ("shufflenet_v2_x1_0", vision("shufflenet_v2_x1_0"), STATIC), ("mobilenet_v3_small", vision("mobilenet_v3_small"), STATIC),
    ("regnet_y_400mf", vision("regnet_y_400mf"), STATIC), ("deit_tiny", timed("deit_tiny_patch16_224"), STATIC),
    ("wav2vec2", face("Wav2Vec2", SOUND, **WAVES), DYNAMIC))]
ALL = [*VISION, *TIMM, *FACES, *OWN, *QUANTISED]


class Reader:
    def __init__(self, feeds: dict):
        self.left = [feeds, None]

    def get_next(self):
        return self.left.pop(0)


def quantise(path: pathlib.Path, feeds: dict, how: str) -> None:
    from onnxruntime import quantization
    prepared = path.with_suffix(".prepared")
    quantization.quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
    if how == DYNAMIC:
        quantization.quantize_dynamic(str(prepared), str(path), weight_type=quantization.QuantType.QInt8, per_channel=True)
    else:
        quantization.quantize_static(str(prepared), str(path), Reader(feeds), per_channel=True,
                                     activation_type=quantization.QuantType.QUInt8)
    prepared.unlink()


def write(stranger: Stranger, folder: pathlib.Path) -> None:
    torch.manual_seed(0)
    model, inputs = stranger.make()
    path = folder / f"{stranger.title}.onnx"
    part = folder / f"{stranger.title}.part"
    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        torch.onnx.export(model.eval(), inputs, str(part), opset_version=stranger.opset, dynamo=stranger.exporter == "dy",
                          external_data=False)
    names = [value.name for value in onnx.load(part, load_external_data=False).graph.input]
    feeds = {name: value.numpy() for name, value in zip(names, inputs)}
    if stranger.quantised:
        quantise(part, feeds, stranger.quantised)
    np.savez(folder / f"{stranger.title}.npz", **feeds)
    part.rename(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    options.folder.mkdir(parents=True, exist_ok=True)
    for stranger in ALL:
        if not any(word in stranger.title for word in options.only):
            continue
        if options.list or (options.folder / f"{stranger.title}.onnx").exists():
            print(stranger.title)
            continue
        try:
            write(stranger, options.folder)
            print(stranger.title, flush=True)
        except Exception as error:  # of any of the packages
            print(f"{stranger.title}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
