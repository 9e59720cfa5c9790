"""Matrix products in all their spellings."""

import math

import numpy as np

from .graph import ELEMENTS, PRODUCTS
from .registry import draws


def matrix_sizes(random, items=1):
    """Rows, depth and columns within the bounds."""
    rows, depth, columns = random.sizes(3, PRODUCTS // items)
    while rows * depth * items > ELEMENTS or depth * columns * items > ELEMENTS or rows * columns * items > ELEMENTS:
        rows, depth, columns = random.sizes(3, PRODUCTS // items)
    return rows, depth, columns


def batches(random):
    """Of two operands: leading dims that broadcast."""
    whole = [random.choice([1, 2, 3, 5, 8, 12]) for _ in range(random.choice([0, 0, 1, 1, 2]))]
    pair = [[1 if random.maybe(0.2) else size for size in whole] for _ in range(2)]
    at = random.randrange(2)
    if random.maybe(0.3):
        pair[at] = pair[at][random.randint(0, len(whole)):]
    return pair


@draws(4, "float32 float16 bfloat16 float64 int32 int64 uint32 uint64")
def matmul(graph, dtype):
    random = graph.random
    left, right = batches(random)
    rows, depth, columns = matrix_sizes(random, math.prod(left) * math.prod(right) or 1)
    left, right = [*left, rows, depth], [*right, depth, columns]
    if random.maybe(0.08):
        left = [depth]
    elif random.maybe(0.08):
        right = [depth]
    make = graph.scaled(depth**-0.5) if dtype.startswith(("f", "b")) else None
    graph.deepen(depth)
    product = graph.add("MatMul", [graph.operand(left, dtype), graph.operand(right, dtype, make)])
    if dtype.startswith(("f", "b")) and random.maybe(0.3):
        return graph.add("Add", [product, graph.operand(graph.shape(product)[-1:], dtype, constant=0.6)])
    return product


@draws(2, "float32 float16 bfloat16 float64")
def gemm(graph, dtype):
    random = graph.random
    rows, depth, columns = matrix_sizes(random)
    turns = [random.randint(0, 1) for _ in range(2)]
    left, right = [depth, rows] if turns[0] else [rows, depth], [columns, depth] if turns[1] else [depth, columns]
    operands = [graph.operand(left, dtype), graph.operand(right, dtype, graph.scaled(depth**-0.5))]
    if random.maybe(0.7):
        forms = [[], [1], [columns], [1, columns], [rows, 1], [rows, columns]]
        operands.append(graph.operand(random.choice(forms), dtype))
    graph.deepen(depth)
    facts = {"alpha": random.choice([1.0, 0.5]), "beta": random.choice([1.0, 2.0, 0.0])}
    return graph.add("Gemm", operands, transA=turns[0], transB=turns[1], **facts)


EQUATIONS = ["ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bjk->bik", "bhid,bhjd->bhij", "bhij,bhjd->bihd",
             "bqhd,bkhd->bhqk", "bi,bj->bij", "ijk,k->ij", "ijk,jil->kl", "bij,jk->bik", "bij->bji", "ij->j", "ii->i",
             "i,i->", "abc,cd,de->abe", "bhwc,hkc->bhwk", "bhwc,wkc->bhwk", "...ij,...jk->...ik", "bn,anm,bm->ba", "ij,ij->i", "bij,bij->b"]


@draws(2, "float32 float16 float64")
def einsum(graph, dtype):
    random = graph.random
    equation = random.choice(EQUATIONS)
    terms = [term.replace("...", "zy") for term in equation.split("->")[0].split(",")]
    letters = sorted(set("".join(terms)))
    for _ in range(200):
        sizes = dict(zip(letters, random.sizes(len(letters), PRODUCTS // 4)))
        if all(math.prod(sizes[letter] for letter in term) <= ELEMENTS // 2 for term in terms):
            break
    else:
        sizes = dict.fromkeys(letters, 5)
    result = equation.split("->")[1].replace("...", "zy")
    if math.prod(sizes[letter] for letter in result) > ELEMENTS:
        sizes = dict.fromkeys(letters, 7)
    depth = math.prod(size for letter, size in sizes.items() if letter not in result)
    graph.deepen(depth)
    make = graph.scaled(min(1, 2 * depth**(-0.5 / len(terms))))
    operands = [graph.operand([sizes[letter] for letter in term], dtype, make) for term in terms]
    shape = [sizes[letter] for letter in result]
    return graph.add("Einsum", operands, results=[(dtype, shape)], equation=equation)


@draws(2, "int8 uint8")
def matmul_integer(graph, dtype):
    random = graph.random
    left, right = batches(random)
    rows, depth, columns = matrix_sizes(random, math.prod(left) * math.prod(right) or 1)
    other = random.choice(["int8", "uint8"])
    operands = [graph.operand([*left, rows, depth], dtype, random.below(*code_range(dtype))),
                graph.operand([*right, depth, columns], other, random.below(*code_range(other)), constant=0.6)]
    if random.maybe(0.6):
        operands += [graph.operand([], dtype, random.below(100), constant=0.5)]
        if random.maybe():
            columns_of = [columns] if random.maybe(0.3) and not right else []
            operands += [graph.operand(columns_of, other, random.below(100), constant=0.7)]
    product = graph.add("MatMulInteger", operands)
    if random.maybe():
        return graph.add("Mul", [graph.add("Cast", [product], to=1), graph.constant(np.float32(0.01))])
    return product


def code_range(dtype):
    """Without the ends, at which pairs of products may saturate: limit, type, least."""
    return (128, dtype, -128) if dtype == "int8" else (256, dtype, 0)


@draws(2, "float32 float16")
def matmul_nbits(graph, dtype):
    random = graph.random
    bits, block = random.choice([4, 4, 8]), random.choice([16, 32, 64, 128])
    rows, depth, columns = matrix_sizes(random)
    blocks = -(-depth // block)
    codes = graph.constant(random.below(256, "uint8")((columns, blocks, block * bits // 8)))
    scales = graph.constant(random.positive((columns, blocks)) * np.float32(0.02 / depth**0.5), dtype)
    operands = [graph.operand([rows, depth], dtype, constant=0), codes, scales]
    if random.maybe():
        operands.append(graph.constant(random.below(256, "uint8")((columns, -(-blocks * bits // 8)))))
    graph.deepen(depth)
    graph.looseness = 4
    return graph.add("MatMulNBits", operands, domain="com.microsoft", results=[(dtype, [rows, columns])], K=depth,
                     N=columns, bits=bits, block_size=block, accuracy_level=0)


@draws(1, "float32")
def fused_matmul(graph, dtype):
    random = graph.random
    left, right = batches(random)
    right = list(left)
    rows, depth, columns = matrix_sizes(random, math.prod(left) or 1)
    turns = [random.randint(0, 1) for _ in range(2)]
    graph.deepen(depth)
    operands = [graph.operand([*left, *([depth, rows] if turns[0] else [rows, depth])], dtype),
                graph.operand([*right, *([columns, depth] if turns[1] else [depth, columns])], dtype,
                              graph.scaled(depth**-0.5))]
    return graph.add("FusedMatMul", operands, domain="com.microsoft", results=[(dtype, [*left, rows, columns])],
                     transA=turns[0], transB=turns[1], alpha=random.choice([1.0, 0.125]))
