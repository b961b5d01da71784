/** One valid header of every type, to show what strangers may not send. */
import { jobSpec } from '../../../shared/job/spec.ts'
import type { Header, WireType } from '../../../shared/messages/wire.ts'

const hash = 'e'.repeat(64)
const tally = { lossSum: 1, labels: 1, correct: 1, correctTop5: 1 }
const device = { displayName: 'x', backend: 'cpu', memoryBytes: 1, flopsPerSecond: 1 }
const layers: [number, number] = [0, 1]
const ring = { ring: 0, round: 0 }
const sent = { activations: 0, gradients: 0, parameters: 0, data: 0 }
const column = { dtype: 'uint8', shape: [1], shards: [{ hash, bytes: 1, samples: 1 }] }

const spec = jobSpec.parse({
  name: 'digits',
  graph: {
    format: 'rookery-model/1',
    name: 'tiny',
    task: 'classify',
    input: { type: 'values', shape: [1] },
    layers: [{ name: 'out', type: 'dense', units: 2 }],
    loss: { type: 'cross-entropy' },
  },
  data: { format: 'rookery-data/1', trainSamples: 1, validationSamples: 0, inputs: column, labels: column },
  recipe: {},
  target: { updates: 1 },
  validation: {},
  seed: 0,
})
const proposal = {
  number: 1,
  layout: {
    clusters: [
      { stages: [{ peer: 'a', layers, memoryBytes: 1, secondsPerMicroBatch: 1 }], samplesPerSecond: 1 },
    ],
    rings: [],
    unused: [],
    samplesPerSecond: 1,
    averagingSeconds: 0,
  },
  accumulate: 1,
  inFlight: [1],
  active: [0],
}

type Body<T extends WireType> = Omit<Header<T>, 'type' | 'job' | 'plan'>
const bodies: { readonly [T in WireType]: Body<T> } = {
  'join-request': { secret: 's', device, addresses: [] },
  admitted: {
    certificate: { job: hash, peer: 'a', role: 'host', expiresAt: 1, signature: '0'.repeat(128) },
    name: 'x',
  },
  'job-summary-request': {
    secret: 's',
    lends: { memoryBytes: 1, flopsPerSecond: 1, uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 },
  },
  'job-summary': {
    ...{ name: 'x', hostName: 'x', model: 'tiny', members: 1, open: true, parameters: 1 },
    ...{ memoryBytes: 1, flopsPerSample: 1, activationBytesPerSample: [1, 1], samplesBetweenAverages: 1 },
    outlook: null,
  },
  refused: { refusal: 'unknown-job', text: 'no' },
  roster: { members: [] },
  'measure-links': { peers: [] },
  probe: { id: 0 },
  'probe-reply': { id: 0 },
  links: { links: [] },
  rehearse: {
    ...{ peer: 'x', seconds: 1 },
    part: { graph: spec.graph, recipe: spec.recipe, layers: [0, 1], samples: 4 },
  },
  rehearsed: {
    looks: [{ steps: 12, seconds: 0.3 }],
    passes: 1,
    passSeconds: 1,
    exchanges: 1,
    exchangeSeconds: 1,
  },
  assignment: {
    ...{ spec, proposal, from: { updates: 0, samples: 0, lost: 0, doubled: 0, cuts: [] } },
    state: { of: 0, optimizer: false, keeps: false, donors: [] },
  },
  replan: { proposal, reason: 'x' },
  'stage-ready': {},
  'stage-report': { layout: 1, stage: 'whole', pausing: false },
  'stand-by': { reason: 'the pool went on' },
  parameters: { layers, offset: 0, total: 1 },
  'parameters-request': { layers, optimizer: false },
  'state-holders': { of: 1, donors: [{ layers, peers: ['x'] }] },
  'state-taken': {},
  'state-request': { of: 1, layers, from: 0, to: 1 },
  'state-piece': { of: 1, layers, offset: 0, checksum: '0'.repeat(16), whole: '0'.repeat(16) },
  'state-refused': { of: 1, layers, refusal: 'not-held' },
  start: {},
  'job-news': {
    ...{ sequence: 0, hostName: 'x', phase: 'training', text: 'training', updates: 1, targetUpdates: 2 },
    ...{ samples: 8, samplesPerSecond: 1, secondsLeft: null, members: [], log: [] },
  },
  'job-news-request': {},
  'shard-request': { id: 0, hash, offset: 0 },
  'shard-piece': { id: 0, hash, offset: 0, bytes: 1 },
  'shard-refused': { id: 0, refusal: 'unknown-shard' },
  activation: { microBatch: 0, purpose: 'train' },
  gradient: { microBatch: 0 },
  judged: { microBatch: 0, tally },
  'end-of-stream': { microBatches: 0 },
  'round-ready': ring,
  chunk: { ...ring, phase: 'reduce', step: 0, offset: 0, weight: 1 },
  'round-whole': ring,
  'round-abandoned': { ...ring, reason: 'x' },
  'round-held': { ...ring, of: 0 },
  progress: {
    updates: 0,
    samples: 0,
    averagedSamples: 0,
    busyMs: 0,
    dropped: 0,
    maxStaleness: 0,
    peakTensorBytes: 0,
    sent,
    rounds: { averaged: 0, abandoned: 0 },
    waitingFor: '',
  },
  validate: { id: 0, samples: 1 },
  validated: { id: 0, tally, updates: 0 },
  'pause-request': {},
  'resume-request': {},
  hold: {},
  proceed: {},
  held: {},
  finish: {},
  'stage-finished': { updates: 0, samples: 0 },
  'leave-request': {},
  leaving: { reason: 'x' },
  'job-ended': { outcome: 'stopped', reason: 'x' },
}

export const allTypes = Object.keys(bodies) as WireType[]

export function headerOf(type: WireType, job: string): Header<WireType> {
  return { type, job, plan: 0, ...bodies[type] } as Header<WireType>
}
