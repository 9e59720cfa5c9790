"""ResNet-50, MobileNetV2, YOLOv5s."""

import numpy as np

from .builder import floats
from .convolution import ConvBuilder, Feature, Kernel


def bottleneck(g: ConvBuilder, x: Feature, width: int, stride: int, first: bool) -> Feature:
    y = g.conv(x, Kernel(width, 1))
    y = g.conv(y, Kernel(width, 3, stride))
    y = g.conv(y, Kernel(width * 4, 1), activate=False)
    identity = g.conv(x, Kernel(width * 4, 1, stride), activate=False) if first else x
    names = [y.name, identity.name]
    if g.quantised:
        names = [g.quantise(name) for name in names]
    return Feature(g.op("Relu", [g.op("Add", names)]), y.size, width * 4)


def resnet50(path: str, batch: int = 1, quantised: bool = False) -> None:
    g = ConvBuilder(quantised, "relu")
    x = g.conv(Feature("x", 224, 3), Kernel(64, 7, 2))
    x.name = g.quantise(x.name) if quantised else x.name
    x = Feature(g.op("MaxPool", [x.name], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 56, 64)
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(count):
            x = bottleneck(g, x, width, stride if block == 0 else 1, first=block == 0)
    x.name = g.quantise(x.name) if quantised else x.name
    g.classifier(x, 1000)
    g.save(path, [floats("x", [batch, 3, 224, 224])], [floats("y", [batch, 1000])])


def inverted_residual(g: ConvBuilder, x: Feature, outputs: int, expansion: int, stride: int) -> Feature:
    y, width = x, x.channels * expansion
    if expansion != 1:
        y = g.conv(y, Kernel(width, 1))
    y = g.conv(y, Kernel(width, 3, stride, groups=width))
    y = g.conv(y, Kernel(outputs, 1), activate=False)
    if stride == 1 and x.channels == outputs:
        y.name = g.op("Add", [x.name, y.name])
    return y


def mobilenetv2(path: str) -> None:
    g = ConvBuilder(activation="relu6")
    x = g.conv(Feature("x", 224, 3), Kernel(32, 3, 2))
    for expansion, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                              (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(count):
            x = inverted_residual(g, x, outputs, expansion, stride if block == 0 else 1)
    g.classifier(g.conv(x, Kernel(1280, 1)), 1000)
    g.save(path, [floats("x", [1, 3, 224, 224])], [floats("y", [1, 1000])])


class Yolo(ConvBuilder):
    SIZE = 640

    def __init__(self):
        super().__init__(activation="silu")

    def c3(self, x: Feature, outputs: int, count: int, shortcut: bool = True) -> Feature:
        a = self.conv(x, Kernel(outputs // 2, 1))
        b = self.conv(x, Kernel(outputs // 2, 1))
        for _ in range(count):
            y = self.conv(self.conv(a, Kernel(outputs // 2, 1)), Kernel(outputs // 2, 3))
            a = Feature(self.op("Add", [a.name, y.name]), y.size, y.channels) if shortcut else y
        return self.conv(self.concat(a, b), Kernel(outputs, 1))

    def concat(self, *features: Feature) -> Feature:
        name = self.op("Concat", [feature.name for feature in features], axis=1)
        return Feature(name, features[0].size, sum(feature.channels for feature in features))

    def stem(self) -> Feature:
        """A 6×6 convolution with padding 2, which Kernel cannot say."""
        inputs = ["x", self.weight(self.random_weight(32, 3, 6, 6)), self.zeros(32)]
        y = self.op("Conv", inputs, kernel_shape=[6, 6], strides=[2, 2], pads=[2] * 4)
        self.giga_macs += (self.SIZE // 2) ** 2 * 32 * 3 * 36 / 1e9
        return Feature(self.activated(y), self.SIZE // 2, 32)

    def pooled_pyramid(self, x: Feature) -> Feature:
        levels = [self.conv(x, Kernel(256, 1))]
        for _ in range(3):
            name = self.op("MaxPool", [levels[-1].name], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4)
            levels.append(Feature(name, x.size, 256))
        return self.conv(self.concat(*levels), Kernel(512, 1))

    def upsampled(self, x: Feature) -> Feature:
        scales = self.weight(np.array([1, 1, 2, 2], np.float32))
        name = self.op("Resize", [x.name, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric",
                       nearest_mode="floor")
        return Feature(name, x.size * 2, x.channels)

    def detections(self, x: Feature) -> str:
        size = x.size
        y = self.conv(x, Kernel(255, 1), activate=False, normalise=False).name
        y = self.op("Reshape", [y, self.int64s(1, 3, 85, size, size)])
        y = self.op("Sigmoid", [self.op("Transpose", [y], perm=[0, 1, 3, 4, 2])])
        return self.op("Reshape", [y, self.int64s(1, -1, 85)])


def yolov5s(path: str) -> None:
    g = Yolo()
    x = g.c3(g.conv(g.stem(), Kernel(64, 3, 2)), 64, 1)
    p3 = g.c3(g.conv(x, Kernel(128, 3, 2)), 128, 2)
    p4 = g.c3(g.conv(p3, Kernel(256, 3, 2)), 256, 3)
    x = g.c3(g.conv(p4, Kernel(512, 3, 2)), 512, 1)
    n5 = g.conv(g.pooled_pyramid(x), Kernel(256, 1))
    n4 = g.conv(g.c3(g.concat(g.upsampled(n5), p4), 256, 1, False), Kernel(128, 1))
    o3 = g.c3(g.concat(g.upsampled(n4), p3), 128, 1, False)
    o4 = g.c3(g.concat(g.conv(o3, Kernel(128, 3, 2)), n4), 256, 1, False)
    o5 = g.c3(g.concat(g.conv(o4, Kernel(256, 3, 2)), n5), 512, 1, False)
    g.op("Concat", [g.detections(x) for x in (o3, o4, o5)], axis=1)
    g.name_output("y")
    g.save(path, [floats("x", [1, 3, g.SIZE, g.SIZE])], [floats("y", [1, 25200, 85])])
