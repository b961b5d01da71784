/** Forecasts that learn: each job's end corrects what is expected of its PCs, and how far a forecast may be off. */
import type { PeerId } from '../../../shared/ids.ts'
import { type Learned, mostLearnedPeers, mostLearnedRates } from '../../../shared/job/learned.ts'
import type { SharedProcessors } from '../planner/shared-processors.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'

/** What was expected of a plan when it was made. */
export interface PlanForecast {
  /** Samples a second of each active cluster while it trains. */
  readonly rates: readonly number[]
  /** The PCs and ways as measured and corrected, the model's layers as measured. */
  readonly ground: { readonly pool: Pool; readonly profile: ModelProfile }
  readonly secondsPerJudged: Seconds
  /** Agents of one machine: their engines' times tell of each other's work. */
  readonly shared: SharedProcessors | undefined
  /** When it was made: seconds and samples of the training so far, and samples judged in between. */
  readonly from: { readonly seconds: number; readonly samples: number; readonly judged: number }
}

/** A PC's work in a job that ended. */
export interface PeerTruth {
  readonly peer: PeerId
  /** Seconds its engine took for a micro-batch, over those planned (what was learned before counted in). */
  readonly slower: number
}

/** How much of a job a PC was there for. */
export interface PeerAttendance {
  readonly peer: PeerId
  /** 0 to 1. */
  readonly share: number
}

/** What a job that ended says. */
export interface Lesson {
  readonly speeds: readonly PeerTruth[]
  readonly attendance: readonly PeerAttendance[]
  /** Samples a second measured over forecast; undefined: the job was too short to tell, or no guide for others. */
  readonly rate: number | undefined
}

/** Half of what a later job says is taken over: one evening is not the rule. */
const weightOfNews = 0.5
const leastSlower = 0.05
const mostSlower = 20
/** It may have been a bad week; a plan without anybody is none. */
const leastReliability = 0.05
/** So many jobs before their spread says more than a guess. */
const enoughRates = 3
/** What a plan does not know: rounds at the end, validation, a PC that is busy with something else. */
const guessedSpread: readonly [number, number] = [0.95, 1.3]
const leastMargin = 0.02

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value))

/** How much slower than its benchmark a PC was; 1 where nobody knows. */
export function slownessOf({ peers }: Learned, peer: PeerId): number {
  return peers.find((known) => known.peer === peer)?.slower ?? 1
}

type KnownPeer = Learned['peers'][number]

const unknownPeer = { slower: 1, runs: 0 }

/** What is known of a PC after a job. Everybody is trusted to be there at first: one evening takes half of it. */
function learnOf(before: KnownPeer | undefined, peer: PeerId, { speeds, attendance }: Lesson): KnownPeer {
  const { reliability: earlier = 1, ...known } = { ...unknownPeer, ...before }
  const { slower = 1 } = speeds.find((truth) => truth.peer === peer) ?? {}
  const change = before === undefined ? slower : slower ** weightOfNews
  const { share = earlier } = attendance.find((stay) => stay.peer === peer) ?? {}
  const reliability = clamp(earlier + weightOfNews * (share - earlier), leastReliability, 1)
  return {
    peer,
    slower: clamp(known.slower * change, leastSlower, mostSlower),
    ...(reliability === 1 ? {} : { reliability }),
    runs: Math.min(1_000_000, known.runs + 1),
  }
}

export function learnFrom(before: Learned, lesson: Lesson): Learned {
  const { speeds, attendance, rate } = lesson
  const told = new Set([...speeds, ...attendance].map(({ peer }) => peer))
  const news = [...told].map((peer) =>
    learnOf(
      before.peers.find((known) => known.peer === peer),
      peer,
      lesson,
    ),
  )
  const others = before.peers.filter(({ peer }) => !told.has(peer))
  const rates = rate === undefined ? before.rates : [...before.rates, clamp(rate, 0.01, 100)]
  return { peers: [...others, ...news].slice(-mostLearnedPeers), rates: rates.slice(-mostLearnedRates) }
}

/** The pool as experience has it. */
export function correctedPool(pool: Pool, learned: Learned): Pool {
  const peers = pool.peers.map((peer) => {
    const { slower = 1, reliability } = learned.peers.find((known) => known.peer === peer.id) ?? {}
    return {
      ...peer,
      flopsPerSecond: peer.flopsPerSecond / slower,
      ...(reliability === undefined ? {} : { availability: { ...peer.availability, reliability } }),
    }
  })
  return { ...pool, peers }
}

/** Least and most that a forecast's seconds are to be multiplied by: the spread of jobs that ended, or a guess. */
export function spreadOf({ rates }: Learned): readonly [number, number] {
  if (rates.length < enoughRates) return guessedSpread
  const factors = rates.map((rate) => 1 / rate)
  return [Math.min(...factors) * (1 - leastMargin), Math.max(...factors) * (1 + leastMargin)]
}

/** `12 % slower than measured`; undefined where the difference is none to speak of. */
export function slownessInWords(slower: number): string | undefined {
  const percent = Math.round(100 * Math.abs(slower - 1))
  if (percent < 3) return undefined
  return `${percent} % ${slower > 1 ? 'slower' : 'faster'} than measured`
}
