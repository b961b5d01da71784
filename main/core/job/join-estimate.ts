/** What joining a job would mean for this PC: how much it could train, and what that costs its line. */
import type { JoinCard } from '../../../shared/messages/cards.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { Bytes, BytesPerSecond, FlopsPerSecond, Seconds } from '../../../shared/units.ts'
import { inUnits, memoryInUnits } from '../limits/in-units.ts'

const secondsAnHour = 3600
/** Of the time that a PC trains, so much is lost at worst to waiting for others. */
const leastEfficiency = 0.5

/** What this PC's owner lends. */
export interface LentPc {
  readonly memoryBytes: Bytes
  /** In the share of the time that the engine may work. */
  readonly flopsPerSecond: FlopsPerSecond
  /** Of each call of its engine; absent: not known. */
  readonly callSeconds?: Seconds | undefined
  /** 0: no cap. */
  readonly uploadBytesPerSecond: BytesPerSecond
  readonly downloadBytesPerSecond: BytesPerSecond
}

type Summary = Pick<
  Header<'job-summary'>,
  | 'members'
  | 'memoryBytes'
  | 'parameters'
  | 'flopsPerSample'
  | 'activationBytesPerSample'
  | 'samplesBetweenAverages'
>
type Estimate = Pick<
  JoinCard,
  'memoryBytes' | 'samplesPerSecond' | 'uploadBytesPerHour' | 'downloadBytesPerHour' | 'limitedBy'
>

/**
 * Bytes a sample that this PC would send, and take in, least and most.
 *
 * Nobody knows before the plan whether it holds a part of the model or all of it. As a stage it passes on an
 * activation or a gradient over one border or two, of every sample of its cluster, in which everybody works; with a
 * whole copy it averages 2(C−1)/C of the parameters a round, at most with every other member.
 */
function bytesPerOwnSample(summary: Summary, holdsAll: boolean): [number, number] {
  const members = summary.members + 1
  const [narrowest, widest] = summary.activationBytesPerSample
  const stage = { least: members * narrowest, most: members * 2 * widest }
  if (!holdsAll) return [stage.least, stage.most]
  const round = ((2 * (members - 1)) / members) * summary.parameters * 4
  const copy = round / Math.max(1, summary.samplesBetweenAverages)
  return [Math.min(stage.least, copy), Math.max(stage.most, copy)]
}

/** How much of a flow a cap lets through. */
const letThrough = (bytesPerSecond: number, cap: number): number =>
  cap === 0 || bytesPerSecond <= cap ? 1 : cap / bytesPerSecond

export function estimateJoin(summary: Summary, pc: LentPc): Estimate {
  const alone = pc.flopsPerSecond / summary.flopsPerSample
  const holdsAll = pc.memoryBytes >= summary.memoryBytes
  const [least, most] = bytesPerOwnSample(summary, holdsAll)
  const caps = [pc.uploadBytesPerSecond, pc.downloadBytesPerSecond] as const
  const slowed = (bytes: number) => Math.min(...caps.map((cap) => letThrough(alone * bytes, cap)))
  const perHour = (cap: number): [number, number] => {
    const within = (bytesPerSecond: number) =>
      Math.round(secondsAnHour * (cap === 0 ? bytesPerSecond : Math.min(cap, bytesPerSecond)))
    return [within(leastEfficiency * alone * least), within(alone * most)]
  }
  return {
    memoryBytes: Math.min(pc.memoryBytes, Math.ceil(summary.memoryBytes)),
    samplesPerSecond: [leastEfficiency * alone * slowed(most), alone * slowed(least)],
    uploadBytesPerHour: perHour(caps[0]),
    downloadBytesPerHour: perHour(caps[1]),
    limitedBy: whatLimits({ holdsAll, pc, needs: alone * most }),
  }
}

function whatLimits(found: {
  readonly holdsAll: boolean
  readonly pc: LentPc
  readonly needs: number
}): string {
  const { holdsAll, pc, needs } = found
  const { uploadBytesPerSecond: up, downloadBytesPerSecond: down } = pc
  if (letThrough(needs, up) < 1 && (down === 0 || up <= down))
    return `Your upload cap of ${inUnits(up)} a second may hold this PC back.`
  if (letThrough(needs, down) < 1)
    return `Your download cap of ${inUnits(down)} a second may hold this PC back.`
  if (!holdsAll)
    return `This PC lends ${memoryInUnits(pc.memoryBytes)} of memory, so it would hold a part of the model and work with others.`
  return 'The processor of this PC is what limits it.'
}
