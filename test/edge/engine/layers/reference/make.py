#!/usr/bin/env python3
"""Writes the reference values of the layer tests, from PyTorch in double precision.

Run once on a machine with PyTorch 1.12 or later (Debian: apt-get install python3-torch):
    python3 test/edge/engine/layers/reference/make.py
The tests read the JSON files and need no PyTorch. Inputs are exact in float32, results are rounded to 9 digits.

Each case: layers of a graph, mode, input, parameters, the output's gradient (dy), and what PyTorch makes of them: output,
gradients of input and parameters, and the running statistics afterwards.
"""
import json
import math
import os
import zlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
HERE = os.path.dirname(os.path.abspath(__file__))


def same_padding(extent, size, stride):
    """TensorFlow's: as little as needed, the odd pixel after the image."""
    out = math.ceil(extent / stride)
    total = max((out - 1) * stride + size - extent, 0)
    return total // 2, total - total // 2


def padded(x, size, stride, padding, value):
    """x [B, C, H, W]"""
    if padding == 'valid':
        return x
    top, bottom = same_padding(x.shape[2], size, stride)
    left, right = same_padding(x.shape[3], size, stride)
    return F.pad(x, (left, right, top, bottom), value=value)


def nchw(x):
    return x.permute(0, 3, 1, 2)


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def conv2d(layer, x, p, _state):
    stride, groups = layer.get('stride', 1), layer.get('groups', 1)
    inside = padded(nchw(x), layer['kernel'], stride, layer.get('padding', 'same'), 0.0)
    weight = p['weight'].permute(3, 2, 0, 1)
    return nhwc(F.conv2d(inside, weight, p.get('bias'), stride=stride, groups=groups))


def max_pool(layer, x, _p, _state):
    size = layer['size']
    stride = layer.get('stride', size)
    return nhwc(F.max_pool2d(padded(nchw(x), size, stride, layer.get('padding', 'valid'), -math.inf), size, stride))


def average_pool(layer, x, _p, _state):
    size = layer['size']
    stride = layer.get('stride', size)

    def mean(image):
        return F.avg_pool2d(padded(image, size, stride, layer.get('padding', 'valid'), 0.0), size, stride)

    return nhwc(mean(nchw(x)) / mean(torch.ones_like(nchw(x))))


def batch_norm(layer, x, p, state):
    rows = x.reshape(-1, x.shape[-1])
    y = F.batch_norm(
        rows,
        state['running-mean'],
        state['running-variance'],
        p['scale'],
        p['shift'],
        training=state['training'],
        momentum=1 - layer.get('momentum', 0.9),
        eps=layer.get('epsilon', 1e-5),
    )
    return y.reshape(x.shape)


def attention(layer, x, p, _state):
    width, tokens = x.shape[-1], x.shape[1]
    module = torch.nn.MultiheadAttention(width, layer['heads'], batch_first=True)
    mask = torch.triu(torch.ones(tokens, tokens, dtype=torch.bool), 1) if layer['causal'] else None
    named = {
        'in_proj_weight': p['qkv-weight'].T,
        'in_proj_bias': p['qkv-bias'],
        'out_proj.weight': p['out-weight'].T,
        'out_proj.bias': p['out-bias'],
    }
    y, _ = torch.nn.utils.stateless.functional_call(
        module, named, (x, x, x), {'attn_mask': mask, 'need_weights': False}
    )
    return y


RULES = {
    'dense': lambda layer, x, p, _: F.linear(x, p['weight'].T, p.get('bias')),
    'conv2d': conv2d,
    'max-pool': max_pool,
    'average-pool': average_pool,
    'global-average-pool': lambda layer, x, p, _: x.mean((1, 2)),
    'batch-norm': batch_norm,
    'layer-norm': lambda layer, x, p, _: F.layer_norm(
        x, x.shape[-1:], p['scale'], p['shift'], layer.get('epsilon', 1e-5)
    ),
    'token-embedding': lambda layer, x, p, _: F.embedding(x, p['table']),
    'position-embedding': lambda layer, x, p, _: x + p['table'],
    'attention': attention,
    'relu': lambda layer, x, p, _: F.relu(x),
    'gelu': lambda layer, x, p, _: F.gelu(x, approximate='tanh'),
    'silu': lambda layer, x, p, _: F.silu(x),
    'flatten': lambda layer, x, p, _: x.flatten(1),
}


def shapes_of(layer, sample):
    """Trained parameters of a layer for a sample of that shape."""
    kind, last = layer['type'], sample[-1] if sample else 1
    if kind == 'dense':
        shapes = {'weight': [last, layer['units']], 'bias': [layer['units']]}
    elif kind == 'conv2d':
        k = layer['kernel']
        shapes = {'weight': [k, k, last // layer.get('groups', 1), layer['filters']], 'bias': [layer['filters']]}
    elif kind in ('batch-norm', 'layer-norm'):
        shapes = {'scale': [last], 'shift': [last]}
    elif kind == 'token-embedding':
        shapes = {'table': [layer['vocabulary'], layer['width']]}
    elif kind == 'position-embedding':
        shapes = {'table': list(sample)}
    elif kind == 'attention':
        shapes = {
            'qkv-weight': [last, 3 * last],
            'qkv-bias': [3 * last],
            'out-weight': [last, last],
            'out-bias': [last],
        }
    else:
        shapes = {}
    if layer.get('bias') is False:
        del shapes['bias']
    return shapes


def draw(shape, scale=1.0, around=0.0):
    """Normal numbers that float32 holds exactly."""
    return (torch.randn(shape) * scale + around).float().double()


class Run:
    """Runs layers, drawing parameters as they are met."""

    def __init__(self, training):
        self.training, self.parameters, self.states = training, {}, {}

    def forward(self, layers, x, prefix=''):
        for layer in layers:
            x = self.one(layer, x, prefix + layer['name'])
        return x

    def one(self, layer, x, path):
        if layer['type'] == 'residual':
            body = self.forward(layer['body'], x, path + '/body/')
            return body + self.forward(layer.get('shortcut', []), x, path + '/shortcut/')
        own, state = {}, {'training': self.training}
        for name, shape in shapes_of(layer, list(x.shape[1:])).items():
            around = 1.0 if name == 'scale' else 0.0
            own[name] = draw(shape, 0.5, around).requires_grad_()
            self.parameters[f'{path}/{name}'] = own[name]
        if layer['type'] == 'batch-norm':
            channels = x.shape[-1]
            state['running-mean'] = draw([channels], 0.5)
            state['running-variance'] = draw([channels]).abs() + 0.5
            state['running-variance'] = state['running-variance'].float().double()
            for name in ('running-mean', 'running-variance'):
                self.states[f'{path}/{name}'] = (state[name].clone(), state[name])
        return RULES[layer['type']](layer, x, own, state)


def rounded(tensor):
    return {
        'shape': list(tensor.shape),
        'values': [float(f'{value:.9g}') for value in tensor.detach().flatten().tolist()],
    }


def case(name, layers, sample, batch=3, training=True, tokens=None):
    torch.manual_seed(zlib.crc32(name.encode()))
    if tokens is None:
        x = draw([batch, *sample]).requires_grad_()
    else:
        x = torch.randint(0, tokens, (batch, *sample))
    run = Run(training)
    y = run.forward(layers, x)
    dy = draw(list(y.shape))
    y.backward(dy)
    return {
        'name': name,
        'layers': layers,
        'training': training,
        'input': {'dtype': 'float32' if tokens is None else 'int32', **rounded(x)},
        'parameters': {
            **{key: rounded(value) for key, value in run.parameters.items()},
            **{key: rounded(before) for key, (before, _) in run.states.items()},
        },
        'outputGradient': rounded(dy),
        'output': rounded(y),
        'inputGradient': None if tokens is not None else rounded(x.grad),
        'parameterGradients': {key: rounded(value.grad) for key, value in run.parameters.items()},
        'stateAfter': {key: rounded(after) for key, (_, after) in run.states.items()},
    }


def layer(kind, name='it', **settings):
    return {'type': kind, 'name': name, **settings}


def convolution(name, sample, **settings):
    return case(name, [layer('conv2d', **settings)], sample, batch=2)


FAMILIES = {
    'dense': lambda: [
        case('dense on vectors', [layer('dense', units=5)], [7]),
        case('dense on a sequence, without bias', [layer('dense', units=9, bias=False)], [4, 6]),
        case('flatten, then dense', [layer('flatten', 'flat'), layer('dense', 'out', units=3)], [2, 3, 2]),
    ],
    'activations': lambda: [
        case(f'{kind}', [layer(kind)], [5, 6]) for kind in ('relu', 'gelu', 'silu')
    ],
    'convolution': lambda: [
        convolution('convolution, same padding', [5, 4, 2], filters=3, kernel=3),
        convolution('convolution, valid padding, stride 2', [7, 6, 2], filters=3, kernel=3, stride=2, padding='valid'),
        convolution('convolution, same padding that is odd', [6, 7, 2], filters=4, kernel=3, stride=2),
        convolution('convolution, even kernel, same padding', [5, 5, 2], filters=2, kernel=4),
        convolution('convolution, one pixel, stride 2', [5, 4, 3], filters=4, kernel=1, stride=2, bias=False),
        convolution('convolution in two groups', [5, 5, 4], filters=6, kernel=3, groups=2),
        convolution('depthwise convolution', [6, 5, 3], filters=3, kernel=3, groups=3),
        convolution(
            'depthwise convolution with two filters a channel', [6, 5, 2], filters=4, kernel=3, groups=2, stride=2
        ),
    ],
    'pooling': lambda: [
        case('max pooling', [layer('max-pool', size=2)], [6, 5, 2]),
        case('max pooling, overlapping, same padding', [layer('max-pool', size=3, stride=2, padding='same')], [6, 5, 2]),
        case('average pooling', [layer('average-pool', size=2)], [6, 4, 2]),
        case(
            'average pooling, overlapping, same padding',
            [layer('average-pool', size=3, stride=2, padding='same')],
            [6, 5, 2],
        ),
        case('global average pooling', [layer('global-average-pool')], [3, 4, 5]),
    ],
    'norms': lambda: [
        case('batch norm on images', [layer('batch-norm', momentum=0.8)], [3, 4, 5]),
        case('batch norm on vectors', [layer('batch-norm', epsilon=0.01)], [6], batch=7),
        case('batch norm in evaluation', [layer('batch-norm')], [3, 3, 2], training=False),
        case('layer norm on sequences', [layer('layer-norm')], [4, 6]),
        case('layer norm on vectors', [layer('layer-norm', epsilon=0.01)], [9]),
    ],
    'sequences': lambda: [
        case('token embedding', [layer('token-embedding', vocabulary=5, width=4)], [6], tokens=5),
        case('position embedding', [layer('position-embedding')], [4, 3]),
        case('attention', [layer('attention', heads=2, causal=False)], [5, 6]),
        case('causal attention', [layer('attention', heads=3, causal=True)], [7, 6], batch=2),
    ],
    'blocks': lambda: [
        case(
            'a residual block',
            [
                layer(
                    'residual',
                    'block',
                    body=[layer('dense', 'wide', units=7), layer('gelu', 'bend'), layer('dense', 'narrow', units=4)],
                )
            ],
            [3, 4],
        ),
        case(
            'a residual block with a shortcut, within a residual block',
            [
                layer(
                    'residual',
                    'outer',
                    body=[
                        layer(
                            'residual',
                            'inner',
                            body=[
                                layer('conv2d', 'slide', filters=4, kernel=3, bias=False),
                                layer('batch-norm', 'norm'),
                                layer('silu', 'bend'),
                            ],
                            shortcut=[layer('conv2d', 'fit', filters=4, kernel=1)],
                        ),
                        layer('conv2d', 'back', filters=2, kernel=3),
                    ],
                )
            ],
            [4, 4, 2],
        ),
        case(
            'a small language model',
            [
                layer('token-embedding', 'tokens', vocabulary=7, width=6),
                layer('position-embedding', 'places'),
                layer(
                    'residual',
                    'mix',
                    body=[layer('layer-norm', 'norm'), layer('attention', 'look', heads=2, causal=True)],
                ),
                layer('layer-norm', 'norm'),
                layer('dense', 'head', units=7, bias=False),
            ],
            [5],
            tokens=7,
        ),
    ],
}

if __name__ == '__main__':
    for family, cases in FAMILIES.items():
        with open(os.path.join(HERE, f'{family}.json'), 'w', encoding='utf-8') as file:
            json.dump(cases(), file)
