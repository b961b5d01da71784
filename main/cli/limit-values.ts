/** Limits as people write and read them on the command line. */
import { InvalidInputError } from '../../shared/errors.ts'
import { limits as schema, type LimitName, type Limits } from '../../shared/limits.ts'
import { describeIssue } from '../../shared/settings.ts'
import { parseBytes } from './context.ts'
import { formatHours, parseHours } from './hours-text.ts'
import { formatBytes, formatShare, formatTraffic } from './view/numbers.ts'

const names = Object.keys(schema.shape) as LimitName[]

const words: Readonly<Record<string, boolean>> = {
  yes: true,
  true: true,
  on: true,
  no: false,
  false: false,
  off: false,
}

function parseYesNo(text: string): boolean {
  const value = words[text.toLowerCase()]
  if (value === undefined) throw new InvalidInputError(`"${text}" is neither yes nor no`)
  return value
}

function parseShare(text: string): number {
  const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(text.trim())
  const share = percent === null ? Number(text) : Number(percent[1]) / 100
  if (text.trim() === '' || !Number.isFinite(share))
    throw new InvalidInputError(`"${text}" is no share; write for example 50%`)
  return share
}

function parseNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidInputError(`"${text}" is no number`)
  return value
}

const isNone = (text: string) => ['none', 'off', ''].includes(text.trim().toLowerCase())
const parseSize = (text: string) => (isNone(text) ? 0 : parseBytes(text.replace(/\/s$/, '')))
const parseList = (text: string) =>
  isNone(text)
    ? []
    : text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')

/** One reader a limit; forgetting one does not compile. */
const readers: { readonly [N in LimitName]: (text: string) => NonNullable<Limits[N]> } = {
  memoryBytes: parseSize,
  computeShare: parseShare,
  uploadBytesPerSecond: parseSize,
  downloadBytesPerSecond: parseSize,
  trainOnBattery: parseYesNo,
  idleMinutes: parseNumber,
  hours: parseHours,
  pausePrograms: parseList,
  networkIsMetered: parseYesNo,
}

const camel = (name: string) => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** `key=value` pairs as a change. @throws InvalidInputError naming the limit */
export function parseLimits(pairs: readonly string[]): Partial<Limits> {
  const change: Record<string, unknown> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = names.find((known) => known === camel(pair.slice(0, Math.max(0, at)).trim()))
    if (name === undefined)
      throw new InvalidInputError(`"${pair}" sets no limit; write key=value with one of ${names.join(', ')}`)
    try {
      change[name] = readers[name](pair.slice(at + 1))
    } catch (thrown) {
      throw new InvalidInputError(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
  const parsed = schema.safeParse(change)
  if (!parsed.success) throw new InvalidInputError(`limits: ${describeIssue(parsed.error)}`)
  return Object.fromEntries(Object.entries(parsed.data).filter(([name]) => Object.hasOwn(change, name)))
}

const yesNo = (value: boolean) => (value ? 'yes' : 'no')
const rate = (value: number) => (value === 0 ? 'none' : `${formatTraffic(value)}/s`)

/** The setting of a limit in a few characters. */
export function formatLimit(name: LimitName, limits: Limits): string {
  const texts: Readonly<Record<LimitName, () => string>> = {
    memoryBytes: () => (limits.memoryBytes === 0 ? 'half' : formatBytes(limits.memoryBytes)),
    computeShare: () => formatShare(limits.computeShare),
    uploadBytesPerSecond: () => rate(limits.uploadBytesPerSecond),
    downloadBytesPerSecond: () => rate(limits.downloadBytesPerSecond),
    trainOnBattery: () => yesNo(limits.trainOnBattery),
    idleMinutes: () => String(limits.idleMinutes),
    hours: () => formatHours(limits.hours),
    pausePrograms: () => (limits.pausePrograms.length === 0 ? 'none' : limits.pausePrograms.join(', ')),
    networkIsMetered: () => yesNo(limits.networkIsMetered),
  }
  return texts[name]()
}
