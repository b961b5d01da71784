/** A bundle for a bug report: one text file of versions, settings, state and log, with everything private taken out. */
import { readFile, stat } from 'node:fs/promises'
import { arch, homedir, hostname, platform, release, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { InvalidInputError } from '../../shared/errors.ts'
import { mebibyte } from '../../shared/units.ts'
import { describeDevice } from '../edge/device/device.ts'
import { snapshotOf, type AgentParts } from './agent-parts.ts'
import { redact, type PrivateNames } from './redact.ts'
import { version } from './version.ts'

/** The end of the log: what led to the trouble. */
const shownLogBytes = mebibyte / 2

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}

function privateNames(parts: AgentParts): PrivateNames {
  const members = parts.current?.participation.view().members ?? []
  const job = parts.current?.participation.view().name ?? ''
  return {
    folders: [
      [resolve(parts.home), '<home>'],
      [homedir(), '~'],
    ],
    names: [
      ...members.map(({ displayName }, index) => [displayName, `<member-${index + 1}>`] as const),
      [parts.settings.displayName, '<this-pc>'],
      [hostname(), '<this-pc>'],
      [userName(), '<user>'],
      [job, '<job>'],
    ],
  }
}

async function endOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.length <= shownLogBytes ? text : text.slice(text.indexOf('\n', text.length - shownLogBytes) + 1)
}

function stateOf(parts: AgentParts): Record<string, unknown> {
  const { backend, limits, pausedByUser, pauseAfterRound, contribution, use, job } = snapshotOf(parts)
  const { invite: _invite, trainingCurve: _training, validationCurve: _validation, ...rest } = job ?? {}
  return {
    ...{ backend, limits, pausedByUser, pauseAfterRound, contribution, use },
    job: job === null ? null : rest,
  }
}

async function bundle(parts: AgentParts): Promise<string> {
  const { displayName: _name, network, ...settings } = parts.settings
  const { address: _address, ...otherNetwork } = network
  const section = (title: string, content: unknown) =>
    `== ${title} ==\n${typeof content === 'string' ? content : JSON.stringify(content, null, 2)}\n`
  return [
    section('rookery', {
      version,
      node: process.versions.node,
      system: `${platform()} ${release()} ${arch()}`,
      device: await describeDevice(),
    }),
    section('settings', { ...settings, network: otherNetwork }),
    section('state', stateOf(parts)),
    section('log before', await endOf(join(parts.home, 'logs', 'agent.1.log'))),
    section('log', await endOf(join(parts.home, 'logs', 'agent.log'))),
  ].join('\n')
}

/** @param to - a file, or a folder to put it in @returns the file @throws InvalidInputError */
export async function writeDiagnostics(parts: AgentParts, to: string): Promise<string> {
  const folder = (await stat(to).catch(() => undefined))?.isDirectory() === true
  const day = new Date().toISOString().slice(0, 10)
  const file = folder ? join(resolve(to), `rookery-diagnostics-${day}.txt`) : resolve(to)
  const text = redact(await bundle(parts), privateNames(parts))
  try {
    await writeFileAtomic(file, text, { mode: 0o600 })
  } catch (error) {
    throw new InvalidInputError(
      `"${file}" cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return file
}
