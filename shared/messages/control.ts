/** What faces (CLI, tray, a test) say to the agent over its local socket, and the state it shows them. */
import { z } from 'zod'
import { jobId, peerId } from '../ids.ts'
import { jobFile } from '../job/spec.ts'
import { scores } from '../model/graph.ts'
import { limits, limitsChange, limitState } from '../limits.ts'
import { plan } from '../plan/plan.ts'
import { dataPreview, joinCard, modelCard, hostForecast, answer } from './cards.ts'
import { dataSource } from '../job/data.ts'

const errorReport = z.object({
  kind: z.enum(['peer-fault', 'bad-input', 'out-of-resource', 'aborted', 'bug']),
  code: z.string(),
  message: z.string(),
})

const amount = z.number().min(0)

export const memberState = z.enum([
  'joined',
  'preparing',
  'ready',
  'training',
  'paused',
  'finished',
  'idle',
  'lost',
])

/** One peer of the job, as the host knows it; a member knows itself, and of the others what its host tells it. */
export const memberView = z.object({
  peer: peerId,
  displayName: z.string(),
  state: memberState,
  /** Why it is idle or lost, or what it waits for; empty while it works. */
  reason: z.string(),
  updates: amount,
  samples: amount,
  /** Share of the time since the start that its engine worked. */
  busyShare: amount,
  peakTensorBytes: amount,
  maxStaleness: amount,
  droppedGradients: amount,
  /** Milliseconds since 1970; absent while it is there. */
  lostAtMs: amount.optional(),
})
export type MemberView = z.infer<typeof memberView>

/** Where the job is in its life. */
export const jobPhase = z.enum([
  'gathering', // waiting for members
  'planning', // measuring links, searching a plan
  'preparing', // engines load, data and weights travel
  'training',
  'draining', // pause or stop was asked; micro-batches in flight finish
  'paused',
  'finishing', // last averaging, last validation, weights travel to the host
  'ended',
])
export type JobPhase = z.infer<typeof jobPhase>

const bytesSent = z.object({ activations: amount, gradients: amount, parameters: amount, data: amount })

export const jobResult = z.object({
  outcome: z.enum(['finished', 'stopped', 'failed']),
  /** One sentence. */
  reason: z.string(),
  /** `finished`, `stopped`, or the code of the error that ended it, for example `does-not-fit`. */
  code: z.string(),
  /** Folder of the model file; null for members, and where none could be made. */
  model: z.string().nullable(),
  validation: scores.nullable(),
  updates: amount,
  /** In the model. */
  samples: amount,
  /** Trained in vain: lost with PCs that were gone from one moment to the next. Of hosts. */
  lostSamples: amount.optional(),
  /** In the model twice within one pass over the data. Only a host knows. */
  doubledSamples: amount.optional(),
  seconds: amount,
  bytesSent,
  maxStaleness: amount,
})
export type JobResult = z.infer<typeof jobResult>

/** What a line of the log is about: something happened, somebody waits, or something went wrong. */
export const logKind = z.enum(['info', 'wait', 'warn'])
export type LogKind = z.infer<typeof logKind>

export const jobView = z.object({
  job: jobId,
  name: z.string(),
  role: z.enum(['host', 'member']),
  phase: jobPhase,
  /** One sentence of what is happening, with the reason for any wait. */
  text: z.string(),
  /** Host only, while people may join. */
  invite: z.string().nullable(),
  members: z.array(memberView),
  plan: plan.nullable(),
  updates: amount,
  targetUpdates: amount,
  samples: amount,
  samplesPerSecond: amount,
  /** Low and high; null until it can be said. */
  secondsLeft: z.tuple([amount, amount]).nullable(),
  /** Nothing was trained for so long though the job trains; `text` says what is waited for. Absent while it moves. */
  stalledForSeconds: amount.optional(),
  /** Newest last; thinned so that it never grows beyond 512 points. */
  trainingCurve: z.array(z.object({ updates: amount, loss: z.number() })).max(512),
  validationCurve: z.array(z.object({ updates: amount, scores })).max(512),
  /** What happened, in plain words, newest last. Milliseconds since 1970. */
  log: z.array(z.object({ atMs: amount, text: z.string(), kind: logKind.optional() })).max(200),
  /** The host's display name; absent until a member hears it. */
  hostName: z.string().optional(),
  /** Milliseconds since 1970: the newest round that some cluster averaged; absent before the first. */
  lastAveragedAtMs: amount.optional(),
  result: jobResult.nullable(),
})
export type JobView = z.infer<typeof jobView>

const contribution = z.object({
  samples: amount,
  trainedSeconds: amount,
  sentBytes: amount,
  receivedBytes: amount,
})
export type Contribution = z.infer<typeof contribution>

/** Everything a face shows. One snapshot a change, at most ten a second. */
export const snapshot = z.object({
  version: z.string(),
  self: peerId,
  displayName: z.string(),
  home: z.string(),
  addresses: z.array(z.string()),
  backend: z.string(),
  limits: z.array(limitState),
  /** Pause in force that no single limit makes: asked for by the user, perhaps until a moment (ms since 1970). */
  pausedByUser: z.object({ untilMs: amount.nullable() }).nullable(),
  /** A pause that the user asked for and that waits for the end of the round; from then on for so long, or until `resume`. */
  pauseAfterRound: z.object({ forMs: amount.nullable() }).nullable().default(null),
  /** What this PC gave: since midnight, and since it was installed. */
  contribution: z.object({ today: contribution, total: contribution }),
  /** What Rookery uses now. */
  use: z.object({
    cpuShare: amount,
    memoryBytes: amount,
    uploadBytesPerSecond: amount,
    downloadBytesPerSecond: amount,
  }),
  /** The job that this PC was in and tries to come back to, by name. */
  comesBackTo: z.string().max(80).nullable(),
  job: jobView.nullable(),
})
export type Snapshot = z.infer<typeof snapshot>

/** Every command of a face: name, what goes in, what comes back. */
export const commands = {
  status: { in: z.object({}), out: snapshot },
  /** Launch a job. Relative paths were made absolute by the face. */
  host: { in: z.object({ job: jobFile }), out: z.object({ job: jobId, invite: z.string() }) },
  join: { in: z.object({ invite: z.string().max(4096) }), out: z.object({ job: jobId, name: z.string() }) },
  /** Host: plan now with who is there. */
  start: { in: z.object({}), out: z.null() },
  /**
   * Finish what is in flight, then rest; for so long, or until `resume`. After the round: train on until the next average
   * is made, then the same; the time counts from there.
   */
  pause: {
    in: z.object({ forMs: amount.optional(), after: z.literal('round').optional() }),
    /** `waits`: the round goes on first. */
    out: z.object({ phase: jobPhase, waits: z.boolean().default(false) }),
  },
  resume: { in: z.object({}), out: z.null() },
  /** Host: end the training early and keep the model. */
  finish: { in: z.object({}), out: z.null() },
  /** Member: drain and go. Host: stop the job without a model. */
  leave: { in: z.object({}), out: z.null() },
  /** What joining would mean; nothing is joined. */
  preview: { in: z.object({ invite: z.string().max(4096) }), out: joinCard },
  limits: { in: z.object({}), out: limits },
  /** Change some limits; in force within a second. */
  setLimits: { in: limitsChange, out: limits },
  /** What the desktop knows better than we do. */
  power: { in: z.object({ onBattery: z.boolean(), idleSeconds: amount }), out: z.null() },
  models: { in: z.object({}), out: z.array(modelCard) },
  /** Look into data before hosting it. */
  inspectData: { in: z.object({ source: dataSource, model: z.string() }), out: dataPreview },
  /** Time to finish with 1 to N PCs like this one. */
  forecastHost: { in: z.object({ job: jobFile, peers: z.int().min(1).max(16) }), out: hostForecast },
  /** Host: a new invite; the one before still works until it expires. */
  invite: { in: z.object({}), out: z.object({ invite: z.string() }) },
  /** Host: this peer has to go. */
  removeMember: { in: z.object({ peer: peerId }), out: z.null() },
  evaluate: {
    in: z.object({ model: z.string(), data: dataSource }),
    out: z.object({ samples: amount, scores }),
  },
  predict: { in: z.object({ model: z.string(), input: z.string().max(100_000) }), out: z.array(answer) },
  /** Copy a finished model to a folder of the user's. */
  exportModel: { in: z.object({ model: z.string(), to: z.string() }), out: z.null() },
  /** Write a bundle for a bug report: logs, settings, versions; no keys, invites or addresses. */
  diagnostics: { in: z.object({ to: z.string() }), out: z.object({ file: z.string() }) },
  backupIdentity: { in: z.object({ to: z.string() }), out: z.null() },
  /** In force at the agent's next start. */
  restoreIdentity: { in: z.object({ from: z.string() }), out: z.null() },
  /** Forget benchmarks, data and known peers; identity, settings and models stay. In force at the next start. */
  reset: { in: z.object({}), out: z.null() },
  /** End the agent. */
  shutdown: { in: z.object({}), out: z.null() },
} as const
export type CommandName = keyof typeof commands
export type CommandInput<N extends CommandName> = z.infer<(typeof commands)[N]['in']>
export type CommandOutput<N extends CommandName> = z.infer<(typeof commands)[N]['out']>

const commandName = z.enum(Object.keys(commands) as [CommandName, ...CommandName[]])

/** A line from a face. The first line of a connection must be `hello` with the token of the home folder. */
export const faceLine = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('hello'), token: z.string().max(128) }),
  z.strictObject({ type: z.literal('command'), id: z.int().min(0), name: commandName, input: z.unknown() }),
  /** Send snapshots from now on. */
  z.strictObject({ type: z.literal('watch') }),
])
export type FaceLine = z.infer<typeof faceLine>

/** A line from the agent. */
export const agentLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome') }),
  z.object({ type: z.literal('done'), id: z.int().min(0), output: z.unknown() }),
  z.object({ type: z.literal('failed'), id: z.int().min(0), error: errorReport }),
  z.object({ type: z.literal('snapshot'), snapshot }),
])
export type AgentLine = z.infer<typeof agentLine>
