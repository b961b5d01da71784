/**
 * Every message between two agents. Each names its job and plan number, so that a new plan during a run is an
 * ordinary event. Tensors travel beside the header as raw bytes (`frame.ts`), never inside it.
 */
import { z } from 'zod'
import { jobId, peerId, planNumber } from '../ids.ts'
import { jobSpec } from '../job/spec.ts'
import { recipe } from '../job/recipe.ts'
import { outlook } from './cards.ts'
import { layerRange, modelGraph, tally } from '../model/graph.ts'
import { plan } from '../plan/plan.ts'
import { jobNewsShape } from './job-news.ts'
import type { HostTensor } from '../tensor.ts'

const envelope = { job: jobId, plan: planNumber }
const message = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...envelope, ...shape })
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const amount = z.number().min(0).max(1e24)
const sentence = z.string().max(500)
const index = z.int().min(0).max(1_000_000)
/** 64 bits, hex. */
const checksum = z.string().regex(/^[0-9a-f]{16}$/)

/** Why a peer would not do what it was asked. Every refusal on the wire is one of these. */
export const refusal = z.enum([
  'not-a-member', // "I am not in that job with you; ask its host."
  'unknown-job', // "I do not host that job."
  'wrong-secret', // "That invite is not mine, or was withdrawn."
  'invite-expired', // "That invite is too old; ask for a new one."
  'too-late', // "The training is about to end; I take nobody more into this run."
  'wrong-plan', // "My plan has another number than yours."
  'unknown-shard', // "That shard is not in my manifest."
  'not-held', // "I do not hold the numbers of those layers as they were then."
  'shutting-down', // "I am leaving; send nothing more."
])
export type Refusal = z.infer<typeof refusal>

/** A host's word that a peer belongs to a job. Signed over its canonical JSON with the job's key. */
export const certificate = z.strictObject({
  job: jobId,
  peer: peerId,
  role: z.enum(['host', 'member']),
  /** Milliseconds since 1970. */
  expiresAt: count,
  /** Ed25519, hex. */
  signature: z.string().regex(/^[0-9a-f]{128}$/),
})
export type Certificate = z.infer<typeof certificate>

/** What a peer lends, as it measured itself. */
export const deviceReport = z.strictObject({
  displayName: z.string().max(60),
  backend: z.string().max(40),
  memoryBytes: z.number().positive(),
  flopsPerSecond: z.number().positive(),
  /** Of each call of its engine, however little it computes; absent: not measured. */
  callSeconds: z.number().min(0).max(60).optional(),
})
export type DeviceReport = z.infer<typeof deviceReport>

const rosterEntry = z.strictObject({
  peer: peerId,
  displayName: z.string().max(60),
  addresses: z.array(z.string().max(512)).max(32),
})

/** What one peer measured of the way to another. */
export const linkReport = z.strictObject({
  peer: peerId,
  roundTripSeconds: z.number().positive(),
  bytesPerSecond: z.number().positive(),
})

// --- Joining: stranger and host ---

/** Stranger to host: "let me in; this is the invite's secret and what I lend." */
export const joinRequest = message('join-request', {
  secret: z.string().max(128),
  device: deviceReport,
  /** Where other members can reach the newcomer. */
  addresses: z.array(z.string().max(512)).max(32),
})
/** Host to stranger: "you are a member." */
export const admitted = message('admitted', { certificate, name: z.string().max(80) })
/** Stranger to host: "what is this job, and what would it ask of me?" Nothing is joined. */
export const jobSummaryRequest = message('job-summary-request', {
  secret: z.string().max(128),
  /** What it would lend; a cap of 0: none. */
  lends: z.strictObject({
    memoryBytes: z.number().positive(),
    flopsPerSecond: z.number().positive(),
    callSeconds: z.number().min(0).max(60).optional(),
    uploadBytesPerSecond: amount,
    downloadBytesPerSecond: amount,
  }),
})
/** Host to stranger: enough to say what joining would mean. */
export const jobSummary = message('job-summary', {
  name: z.string().max(80),
  hostName: z.string().max(60),
  model: z.string().max(256),
  /** Members now, the host included. */
  members: count,
  /** Whether the host still takes members. */
  open: z.boolean(),
  parameters: count,
  /** Of a whole copy, as the planner counts. */
  memoryBytes: amount,
  /** Of a training step. */
  flopsPerSample: amount,
  /** Over the narrowest and the widest border between two layers. */
  activationBytesPerSample: z.tuple([amount, amount]),
  /** Of one cluster, between two averages. */
  samplesBetweenAverages: amount,
  /** Null: the host has no time to reckon it. */
  outlook: outlook.nullable(),
})
/** Anyone: "no." */
export const refused = message('refused', { refusal, text: sentence })

// --- Gathering and planning: host and members ---

/** Host to all: who is in the job and where to reach them. */
export const roster = message('roster', { members: z.array(rosterEntry).max(10_000) })
/** Host to member: measure the way to these members, then send `links`. */
export const measureLinks = message('measure-links', { peers: z.array(peerId).max(10_000) })
/** Member to member: answer at once; one tensor of ballast in it. */
export const probe = message('probe', { id: count })
export const probeReply = message('probe-reply', { id: count })
/** Host to those on its own machine, all at once: train a part, make calls and exchange small messages with this neighbour, then send `rehearsed`. */
export const rehearse = message('rehearse', {
  peer: peerId,
  seconds: z.number().positive().max(10),
  /** These layers are trained, with so many samples a micro-batch. */
  part: z
    .strictObject({ graph: modelGraph, recipe, layers: layerRange, samples: z.int().min(1).max(65_536) })
    .refine(
      ({ graph, recipe: { schedule }, layers: [from, to], samples }) =>
        from < to && to <= graph.layers.length && samples <= schedule.microBatch,
      { error: 'a part is a run of the layers of its model, with a micro-batch of samples at most' },
    ),
})
/**
 * Some looks at steps of its part; passes of a tiny stage, and so many more with a message to and fro
 * after each; and the processor's seconds of all.
 */
export const rehearsed = message('rehearsed', {
  looks: z.array(z.object({ steps: count, seconds: amount })).max(8),
  passes: count,
  passSeconds: amount,
  exchanges: count,
  exchangeSeconds: amount,
})
export const links = message('links', { links: z.array(linkReport).max(10_000) })
/** Where a cluster stands in the data: of its share of an epoch the first so many rows are trained, and all of the epochs before. */
const cursor = z.tuple([index, count])
/** More new plans within one epoch are possible, but then the oldest is forgotten and some rows may come twice. */
export const mostCuts = 64
/**
 * How far a model was trained. `samples` are in it, `lost` were trained in vain, `doubled` are in it twice within an
 * epoch. `cuts`: how the data was shared out
 * since the epoch that is not used up began; one cursor for each cluster, a new cut with each new plan.
 */
export const trained = z.strictObject({
  updates: count,
  samples: count,
  lost: count.default(0),
  doubled: count.default(0),
  cuts: z.array(z.array(cursor).min(1).max(10_000)).max(mostCuts).default([]),
})
/** A run of layers and who holds its numbers, best first; several clusters hold the same layers. */
export const stateDonors = z.strictObject({ layers: layerRange, peers: z.array(peerId).min(1).max(16) })
/** What nobody is named for, the host gives. */
const donors = z.array(stateDonors).max(10_000)
/**
 * Host to member: your part of a new plan. Answer `state-taken` when you hold the numbers of its layers, and `stage-ready`
 * when engine and data stand, too. It replaces whatever stage you had; `from` is where the training goes on, 0 in the
 * first plan. `state`: the numbers that it goes on with are those that the pool agreed on after plan `of`; two members'
 * are the same, but for the memory of their optimizers. `optimizer`: there is such a memory. `keeps`: the stage that you
 * had knows them; keep them for yourself and for others.
 */
export const assignment = message('assignment', {
  spec: jobSpec,
  proposal: plan,
  from: trained,
  state: z.strictObject({ of: planNumber, optimizer: z.boolean(), keeps: z.boolean(), donors }),
})
/** Host to member that takes its part: who holds what now. */
export const stateHolders = message('state-holders', { of: planNumber, donors })
/** Member to host: "I hold the numbers of my part, and can give them." */
export const stateTaken = message('state-taken', {})
/** Host to member: the active clusters changed; your stage stays as it is. */
export const replan = message('replan', { proposal: plan, reason: sentence })
/**
 * Member to host: what I hold. Said until it is answered to a host that was gone, and once when my stage breaks.
 * `layout`: the plan that cut my stage, 0 without one; `whole`: it can go on where it stands.
 */
export const stageReport = message('stage-report', {
  layout: planNumber,
  stage: z.enum(['none', 'broken', 'whole', 'finished']),
  /** Where my cluster stood in the data under that plan, as far as my stage saw it. */
  cursor: cursor.optional(),
  /** My owner wants me to pause. */
  pausing: z.boolean(),
})
/** Host to member: "the pool went on without your stage; let it go and wait for the next plan." */
export const standBy = message('stand-by', { reason: sentence })
/** Member to host. */
export const stageReady = message('stage-ready', {})
/**
 * Member to host: a piece of a stage's numbers; one float32 tensor, elements [offset, offset+length) of all `total`. Of a
 * stage that trains: `cursor`, where its cluster stood in the data when they were read.
 */
export const parameters = message('parameters', {
  layers: layerRange,
  offset: count,
  total: count,
  cursor: cursor.optional(),
})
/**
 * Host to member: send me the numbers of these layers, as `parameters` pieces; with `optimizer`, each of its moments
 * follows as one more vector of the same length.
 */
export const parametersRequest = message('parameters-request', { layers: layerRange, optimizer: z.boolean() })
/**
 * Member to member: send me elements [from, to) of the numbers of these layers, as they were agreed on after plan `of`; in
 * order, as `state-piece`s. Said again, it goes on from there.
 */
export const stateRequest = message('state-request', {
  of: planNumber,
  layers: layerRange,
  from: count,
  to: count,
})
/**
 * Elements from `offset` on: one float32 tensor, the weights and then each moment of the optimizer, equally long.
 * `checksum` is of the tensor, `whole` of all weights of these layers.
 */
export const statePiece = message('state-piece', {
  ...{ of: planNumber, layers: layerRange, offset: count, checksum, whole: checksum },
})
export const stateRefused = message('state-refused', { of: planNumber, layers: layerRange, refusal })
/**
 * Host to members: the stages are ready, go. `made`: the pool has made so many updates under the plan, and this cluster
 * joins it there. `giving`: others still take their numbers; without it what was kept for them may be let go.
 */
export const start = message('start', { made: z.int().min(0).optional(), giving: z.boolean().optional() })

// --- Data: anyone who has a shard ---

export const shardRequest = message('shard-request', {
  id: count,
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  offset: count,
})
/** One uint8 tensor: bytes from `offset`, at most a piece; `bytes` is the whole shard's length. */
export const shardPiece = message('shard-piece', {
  id: count,
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  offset: count,
  bytes: count,
})
export const shardRefused = message('shard-refused', { id: count, refusal })

// --- Pipeline: neighbours in a cluster ---

/** Stage s to s+1: the output of stage s; one tensor [B, ...]. */
export const activation = message('activation', { microBatch: count, purpose: z.enum(['train', 'evaluate']) })
/** Stage s to s−1: the loss's gradient by the activation; one tensor of its shape. Its return to the root is the credit. */
export const gradient = message('gradient', { microBatch: count })
/** Leaf to root: an evaluation micro-batch is judged; returns its credit. */
export const judged = message('judged', { microBatch: count, tally })
/** Stage s to s+1: the root admits no more; the last training micro-batch is `microBatches` − 1. */
export const endOfStream = message('end-of-stream', { microBatches: count })

// --- Averaging: members of a ring ---

const ringRound = { ring: index, round: count }
/** To every member of the ring: "I made enough updates for this round." */
export const roundReady = message('round-ready', ringRound)
/** To the next member of the ring: a piece of one chunk in one float32 tensor. */
export const chunk = message('chunk', {
  ...ringRound,
  phase: z.enum(['reduce', 'gather']),
  step: index,
  /** Of the piece's first element in the chunk. */
  offset: count,
  /** Weight gathered in this chunk so far: samples trained since each contributor's last round. */
  weight: z.number().min(0),
})
/** To every member of the ring: "I hold the whole mean of this round, and write it once all of you do, too." */
export const roundWhole = message('round-whole', ringRound)
/** To every member of the ring: "I gave this round up." */
export const roundAbandoned = message('round-abandoned', { ...ringRound, reason: sentence })
/** To those who go on under a new plan: "Of that ring of the plan `of`, this is the last round whose mean I hold; 0: none." */
export const roundHeld = message('round-held', { ...ringRound, of: planNumber })
const averagingTypes = ['round-ready', 'chunk', 'round-whole', 'round-abandoned', 'round-held'] as const

// --- Progress and life: member and host ---

/** Member to host, about once a second: how its stage goes. */
export const progress = message('progress', {
  updates: count,
  samples: count,
  /** Of these, so many are in the other clusters' numbers, too. */
  averagedSamples: count.default(0),
  /** Where its cluster stands in the data by what this stage has trained; of the root: what all its stages have. */
  cursor: cursor.optional(),
  /** Of the leaf only: what the training loss was since the last report. */
  training: tally.optional(),
  /** Milliseconds of this stage's life that the engine worked. */
  busyMs: z.number().min(0),
  dropped: count,
  maxStaleness: count,
  peakTensorBytes: count,
  sent: z.strictObject({ activations: count, gradients: count, parameters: count, data: count }),
  rounds: z.strictObject({ averaged: count, abandoned: count }),
  /** Why this stage waits, for a person; empty while it works. */
  waitingFor: z.string().max(200),
})
export type Progress = z.infer<typeof progress>

/** Host to the root of a cluster: run validation rows [0, samples) through the pipeline and send `validated`. */
export const validate = message('validate', { id: count, samples: count })
export const validated = message('validated', { id: count, tally, updates: count })
/** Member to host: "please hold my cluster, I pause." and "I am back." */
export const pauseRequest = message('pause-request', {})
export const resumeRequest = message('resume-request', {})
/** Host to the root of a cluster: admit nothing until `proceed`. */
export const hold = message('hold', {})
export const proceed = message('proceed', {})
/** Root to host: a held cluster is empty. Who paused to host: this PC rests, with what is in flight. */
export const held = message('held', {})
/** Host to every root: admit no more, whatever the target; drain and end. */
export const finish = message('finish', {})
/** Member to host: my stage has drained and made its last round. */
export const stageFinished = message('stage-finished', { updates: count, samples: count })
/** Member to host: "I want to go; take over what my stage knows, then send `job-ended`." */
export const leaveRequest = message('leave-request', {})
/** Member to host: I go, now. */
export const leaving = message('leaving', { reason: sentence })
/** Host to member, about once a second while something changed: how the job goes. */
export const jobNews = message('job-news', jobNewsShape)
/** Member to host: "I missed some news; tell me all of it again." */
export const jobNewsRequest = message('job-news-request', {})
/** Host to members: it is over. */
export const jobEnded = message('job-ended', {
  outcome: z.enum(['finished', 'stopped', 'failed']),
  reason: sentence,
})

const headers = [
  joinRequest, admitted, refused, jobSummaryRequest, jobSummary,
  roster, measureLinks, probe, probeReply, links, rehearse, rehearsed, assignment, replan, stageReport, standBy, stageReady, parameters, parametersRequest, start,
  stateHolders, stateTaken, stateRequest, statePiece, stateRefused,
  shardRequest, shardPiece, shardRefused,
  activation, gradient, judged, endOfStream,
  roundReady, chunk, roundWhole, roundAbandoned, roundHeld,
  progress, validate, validated, pauseRequest, resumeRequest, hold, proceed, held, finish, stageFinished,
  leaveRequest, leaving, jobEnded,
  jobNews, jobNewsRequest,
] as const // prettier-ignore

/** The header of any message on the wire. */
export const wireHeader = z.discriminatedUnion('type', headers)
export type WireHeader = z.infer<typeof wireHeader>
export type WireType = WireHeader['type']
/** The header of one kind of message. */
export type Header<T extends WireType> = Extract<WireHeader, { type: T }>

/** Between members of a ring. */
export type AveragingHeader = Header<(typeof averagingTypes)[number]>
export const isOfAveraging = (header: WireHeader): header is AveragingHeader =>
  (averagingTypes as readonly WireType[]).includes(header.type)

/** A header and the tensors that go with it. */
export interface WireMessage<T extends WireType = WireType> {
  readonly header: Header<T>
  readonly tensors: readonly HostTensor[]
}

/** What travels in a message, for the byte counters and for the order on the wire. */
export type Traffic = 'control' | 'activations' | 'gradients' | 'parameters' | 'data'

const trafficOfType: Partial<Record<WireType, Traffic>> = {
  activation: 'activations',
  gradient: 'gradients',
  chunk: 'parameters',
  parameters: 'parameters',
  'state-piece': 'parameters',
  'shard-piece': 'data',
  probe: 'data',
}

/** The traffic class of a message. Classes have streams of their own, so control is never stuck behind bulk. */
export function trafficOf(type: WireType): Traffic {
  return trafficOfType[type] ?? 'control'
}
