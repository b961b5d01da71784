/** What a PC's owner agreed to, and whether each limit holds it back now. */
import { z } from 'zod'
import { gibibyte } from './units.ts'

const bytesPerSecond = z.number().min(0).max(1e12)
const minuteOfDay = z.int().min(0).max(1440)

/** From minute to minute of one day; an evening that ends after midnight is two. */
const span = z
  .tuple([minuteOfDay, minuteOfDay])
  .refine(([from, to]) => from < to, 'the end lies before the beginning')

export const limits = z.strictObject({
  /** Tensor memory to lend; 0: half of what is free when a job starts. */
  memoryBytes: z
    .number()
    .min(0)
    .max(4096 * gibibyte)
    .default(0),
  /** Share of the time that the engine may work. */
  computeShare: z.number().min(0.05).max(1).default(1),
  /** 0: no cap. */
  uploadBytesPerSecond: bytesPerSecond.default(0),
  /** 0: no cap. */
  downloadBytesPerSecond: bytesPerSecond.default(0),
  trainOnBattery: z.boolean().default(false),
  /** Only after so many minutes without keyboard or mouse; 0: always. Our own load does not count. */
  idleMinutes: z.int().min(0).max(1440).default(0),
  /** Monday to Sunday; absent: at all hours. */
  hours: z.array(z.array(span).max(8)).length(7).optional(),
  /** Pause while a program of one of these names runs. */
  pausePrograms: z.array(z.string().min(1).max(100)).max(50).default([]),
  /** The user says that this network costs by the byte: pause. */
  networkIsMetered: z.boolean().default(false),
})
export type Limits = z.infer<typeof limits>
export type LimitName = keyof Limits

const { shape } = limits
/** A part of them; what is absent stays as it is. Without the defaults, which `partial` alone would fill in. */
export const limitsChange = limits
  .extend({
    memoryBytes: shape.memoryBytes.unwrap(),
    computeShare: shape.computeShare.unwrap(),
    uploadBytesPerSecond: shape.uploadBytesPerSecond.unwrap(),
    downloadBytesPerSecond: shape.downloadBytesPerSecond.unwrap(),
    trainOnBattery: shape.trainOnBattery.unwrap(),
    idleMinutes: shape.idleMinutes.unwrap(),
    pausePrograms: shape.pausePrograms.unwrap(),
    networkIsMetered: shape.networkIsMetered.unwrap(),
  })
  .partial()
export type LimitsChange = z.infer<typeof limitsChange>

/** How one limit stands: no limit · a cap in use · a condition that lets us train · one that makes us pause. */
export const limitState = z.object({
  limit: z.enum(Object.keys(limits.shape) as [LimitName, ...LimitName[]]),
  state: z.enum(['off', 'in-force', 'allows', 'pausing']),
  /** Why, in one sentence. */
  reason: z.string(),
})
export type LimitState = z.infer<typeof limitState>

/** What the limits are judged by. What nobody can tell on this machine is absent and holds nobody back. */
export interface Conditions {
  readonly onBattery?: boolean
  readonly idleSeconds?: number
  /** Names of programs that run now, of those in `pausePrograms`. */
  readonly programs: readonly string[]
  /** Local time. */
  readonly weekday: number
  readonly minuteOfDay: number
}
