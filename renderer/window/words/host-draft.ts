/** What the host's wizard gathers, and the job file it becomes. */
import type { DataSource } from '../../../shared/job/data.ts'
import type { JobFile } from '../../../shared/job/spec.ts'
import type { ModelCard } from '../../../shared/messages/cards.ts'
import { count } from './numbers.ts'

export type SourceType = DataSource['type']

export interface HostDraft {
  readonly source: DataSource | null
  readonly model: string
  readonly name: string
  /** Percent of the samples that are held out. */
  readonly heldOutPercent: number
  readonly recipe: RecipeDraft
  readonly inviteHours: number
  /** Start as soon as so many PCs are there, this one included; 0: when the host presses Start. */
  readonly startAtPeers: number
  /** Start with whoever is there after so many minutes. */
  readonly deadlineMinutes: number
}

export interface RecipeDraft {
  readonly updates: number
  readonly microBatch: number
  readonly learningRate: number
  readonly warmupUpdates: number
  readonly averageEveryUpdates: number
  readonly optimizer: 'adamw' | 'adam' | 'sgd' | 'lamb'
  readonly staleness: 'predict' | 'none'
  /** 0: no clipping. */
  readonly clipNorm: number
  readonly seed: number
}

const common = { averageEveryUpdates: 10, optimizer: 'adamw', staleness: 'predict', seed: 0 } as const
const pictures: RecipeDraft = {
  ...common,
  updates: 400,
  microBatch: 16,
  learningRate: 0.003,
  warmupUpdates: 20,
  clipNorm: 0,
}
const text: RecipeDraft = {
  ...common,
  updates: 1000,
  microBatch: 4,
  learningRate: 0.003,
  warmupUpdates: 50,
  clipNorm: 1,
}

/** A model that reads text. */
export const readsText = ({ task, input }: ModelCard): boolean =>
  task.includes('token') || input.includes('token')

/** Settings that train each kind of model well without being touched. */
export const defaultRecipe = (card: ModelCard): RecipeDraft => (readsText(card) ? text : pictures)

export const emptyDraft: HostDraft = {
  source: null,
  model: '',
  name: '',
  heldOutPercent: 10,
  recipe: pictures,
  inviteHours: 24,
  startAtPeers: 0,
  deadlineMinutes: 60 * 24,
}

const endings: readonly (readonly [RegExp, SourceType])[] = [
  [/\.csv(\.gz)?$/i, 'csv'],
  [/ubyte(\.gz)?$/i, 'idx'],
  [/\.bin$/i, 'cifar10'],
]

/** How a chosen file is most likely to be read. */
export const guessType = (path: string): SourceType =>
  endings.find(([ending]) => ending.test(path))?.[1] ?? 'text'

/** The last part of a path of any system. */
export const fileName = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== '') ?? path

/** A source of a type from one chosen path; idx asks for its labels beside. */
export function sourceOf(type: SourceType, path: string): DataSource {
  if (type === 'csv') return { type, path, label: -1, normalize: 'global' }
  if (type === 'idx') return { type, images: path, labels: path.replace(/images-idx3/i, 'labels-idx1') }
  if (type === 'cifar10') return { type, paths: [path] }
  return { type, path }
}

export function pathOf(source: DataSource): string {
  if (source.type === 'idx') return source.images
  return source.type === 'cifar10' ? (source.paths[0] ?? '') : source.path
}

/** Models that could learn from such data, the one that needs least memory first: what the wizard tries before a person chooses. */
export function candidates(type: SourceType, models: readonly ModelCard[]): ModelCard[] {
  const wantsTokens = type === 'text'
  return models
    .filter((card) => readsText(card) === wantsTokens)
    .sort((a, b) => a.memoryBytes - b.memoryBytes)
}

/** "moby-dick.txt" → "moby dick". */
export const suggestedName = (path: string): string =>
  fileName(path)
    .replace(/(\.[a-z]{2,4}){1,2}$/i, '')
    .replaceAll(/[-_]+/g, ' ')
    .slice(0, 80)

type Optimizer = JobFile['recipe']['optimizer']

function optimizerOf({ optimizer: type, learningRate }: RecipeDraft): Optimizer {
  if (type === 'sgd') return { type, learningRate, momentum: 0.9, nesterov: false, weightDecay: 0 }
  return {
    type,
    learningRate,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weightDecay: type === 'adam' ? 0 : 0.01,
  }
}

/** The job file of a draft, or null while there is no data or no model. */
export function jobFileOf(draft: HostDraft): JobFile | null {
  const { source, model, recipe } = draft
  if (source === null || model === '') return null
  return {
    name: draft.name.trim() === '' ? suggestedName(pathOf(source)) || 'job' : draft.name.trim(),
    model,
    data: source,
    recipe: {
      placement: 'stages',
      schedule: { microBatch: recipe.microBatch },
      sync: { type: 'multi-ring-mean', averageEveryUpdates: recipe.averageEveryUpdates },
      staleness: recipe.staleness,
      codec: 'auto',
      optimizer: optimizerOf(recipe),
      learningRate: { type: 'constant', warmupUpdates: recipe.warmupUpdates },
      ...(recipe.clipNorm > 0 ? { clipNorm: recipe.clipNorm } : {}),
    },
    target: { updates: recipe.updates },
    validation: {
      share: draft.heldOutPercent / 100,
      everyUpdates: Math.max(1, Math.ceil(recipe.updates / 20)),
      samples: 1024,
    },
    gathering: {
      ...(draft.startAtPeers > 0 ? { peers: draft.startAtPeers } : {}),
      deadlineSeconds: draft.deadlineMinutes * 60,
      inviteHours: draft.inviteHours,
    },
    seed: recipe.seed,
  }
}

/** A number field of the wizard: its bounds and how to say that it is outside. */
export interface Bounds {
  readonly least: number
  readonly most: number
  readonly whole: boolean
}

const bound = (value: number): string => (value >= 1000 ? count(value) : String(value))

/** One sentence when a typed number is not usable, else undefined. */
export function numberFault(value: number, { least, most, whole }: Bounds): string | undefined {
  const between = `from ${bound(least)} to ${bound(most)}`
  if (!Number.isFinite(value)) return `Type a number ${between}.`
  if (whole && !Number.isInteger(value)) return `Type a whole number ${between}.`
  return value < least || value > most ? `Type a number ${between}.` : undefined
}

/** What friends are sent. */
export const shareText = (name: string, invite: string): string =>
  `Help train “${name}” with Rookery: install it, then open this link. You see what it costs before anything starts.\n${invite}`
