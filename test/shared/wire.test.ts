/** The border between agents is frozen: a renamed message or refusal would split pools of different versions. */
import { describe, expect, it } from 'vitest'
import { certificate, refusal, trafficOf, wireHeader, type WireType } from '../../shared/messages/wire.ts'

const job = 'cd'.repeat(32)
const types = wireHeader.options.map((option) => option.shape.type.value)

describe('the messages between agents', () => {
  it('have the names that other versions know', () => {
    expect([...types].sort()).toEqual(
      [
        ...[
          'activation',
          'admitted',
          'assignment',
          'chunk',
          'end-of-stream',
          'finish',
          'gradient',
          'held',
          'hold',
        ],
        ...[
          'job-ended',
          'job-news',
          'job-news-request',
          'job-summary',
          'job-summary-request',
          'join-request',
          'judged',
          'leave-request',
          'leaving',
          'links',
          'measure-links',
          'parameters',
        ],
        ...[
          'parameters-request',
          'pause-request',
          'probe',
          'probe-reply',
          'proceed',
          'progress',
          'refused',
          'rehearse',
          'rehearsed',
          'replan',
        ],
        ...['resume-request', 'roster', 'round-abandoned', 'round-held', 'round-ready', 'round-whole'],
        ...['shard-piece', 'shard-refused'],
        ...['shard-request', 'stage-finished', 'stage-ready', 'stage-report', 'stand-by'],
        ...['state-holders', 'state-piece', 'state-refused', 'state-request', 'state-taken'],
        ...['start', 'validate', 'validated'],
      ].sort(),
    )
  })

  it('are refused with the words that other versions know', () => {
    expect(refusal.options).toEqual([
      ...['not-a-member', 'unknown-job', 'wrong-secret', 'invite-expired', 'too-late', 'wrong-plan'],
      ...['unknown-shard', 'not-held', 'shutting-down'],
    ])
  })

  it('keep bulk off the control lane', () => {
    const bulk = types.filter((type) => trafficOf(type) !== 'control').sort()
    expect(bulk).toEqual(
      ['activation', 'chunk', 'gradient', 'parameters', 'probe', 'shard-piece', 'state-piece'], // prettier-ignore
    )
  })

  it.each<[string, Record<string, unknown>]>([
    ['a job that is no hash', { type: 'start', job: 'mine', plan: 0 }],
    ['a negative plan', { type: 'start', job, plan: -1 }],
    ['a field too many', { type: 'start', job, plan: 0, soon: true }],
    ['a field too few', { type: 'gradient', job, plan: 0 }],
    [
      'a number that JSON cannot carry',
      { type: 'chunk', job, plan: 0, ring: 0, round: 0, phase: 'reduce', step: 0, offset: 0, weight: NaN },
    ],
    ['a reason without end', { type: 'leaving', job, plan: 0, reason: 'x'.repeat(501) }],
  ])('with %s are not taken', (_, header) => {
    expect(wireHeader.safeParse(header).success).toBe(false)
  })

  it('ask nobody to train what is no part of the model, or more than a micro-batch', () => {
    const graph = {
      ...{ format: 'rookery-model/1', name: 'two', task: 'classify', loss: { type: 'cross-entropy' } },
      input: { type: 'values', shape: [4] },
      layers: [
        { type: 'dense', name: 'first', units: 4 },
        { type: 'dense', name: 'last', units: 4 },
      ],
    }
    const part = { graph, recipe: { schedule: { microBatch: 8 } }, layers: [0, 2], samples: 8 }
    const asked = (change: Record<string, unknown>) =>
      wireHeader.safeParse({
        ...{ type: 'rehearse', job, plan: 0, peer: 'a', seconds: 1 },
        part: { ...part, ...change },
      }).success
    expect(asked({})).toBe(true)
    for (const change of [{ layers: [0, 3] }, { layers: [1, 1] }, { layers: [2, 1] }, { samples: 9 }])
      expect(asked(change)).toBe(false)
  })

  it('carry certificates whose every field is bounded', () => {
    const good = { job, peer: 'a', role: 'member', expiresAt: 1, signature: '0'.repeat(128) }
    expect(certificate.safeParse(good).success).toBe(true)
    const bad = [
      { role: 'king' },
      { signature: '0' },
      { expiresAt: -1 },
      { peer: 'x'.repeat(129) },
      { extra: 1 },
    ]
    for (const change of bad) expect(certificate.safeParse({ ...good, ...change }).success).toBe(false)
  })

  it('name a traffic class for every type', () => {
    const classes = new Set(types.map((type: WireType) => trafficOf(type)))
    expect([...classes].sort()).toEqual(['activations', 'control', 'data', 'gradients', 'parameters'])
  })
})
