/** What joining or hosting would bring and cost, before anything starts. */
import type { HostForecast, JoinCard, Prospect } from '../../../shared/messages/cards.ts'
import type { Limits } from '../../../shared/limits.ts'
import { perDay, trainingHoursPerDay } from '../../../shared/training-hours.ts'
import { column, columnRight, harmless } from './columns.ts'
import {
  formatBytes,
  formatCount,
  formatDurationRange,
  formatRange,
  formatRate,
  formatTraffic,
} from './numbers.ts'

const nameWidth = 15
const row = (name: string, value: string): string => `  ${column(name, nameWidth)}${value}`

function prospectText(prospect: Prospect | null): string {
  if (prospect === null) return 'too little memory for this model'
  const { samplesPerSecond, seconds } = prospect
  return `${formatRange(samplesPerSecond, formatRate)}, done in ${formatDurationRange(seconds)}`
}

/** An hour's bytes, and a day's in the hours that the owner allows. */
function trafficText(perHour: readonly [number, number], limits: Limits): string {
  const day = perDay(perHour, trainingHoursPerDay(limits))
  return `${formatRange(perHour, formatTraffic)} an hour of training, ${formatRange(day, formatTraffic)} a day`
}

export function joinText(card: JoinCard, limits: Limits): string {
  const { outlook, gain } = card
  const members = card.members === 1 ? 'the host alone' : `${card.members} PCs`
  return [
    `“${harmless(card.name)}” of ${harmless(card.hostName)}: ${harmless(card.model)}, ${formatCount(card.parameters)} parameters`,
    row('the pool now', outlook === null ? members : `${members}, ${prospectText(outlook.now)}`),
    ...(outlook === null
      ? []
      : [
          row('with this PC', prospectText(outlook.withYou)),
          row('and one more', prospectText(outlook.withOneMore)),
        ]),
    row('this PC alone', formatRange(card.samplesPerSecond, formatRate)),
    row('memory', `at most ${formatBytes(card.memoryBytes)}`),
    row('upload', trafficText(card.uploadBytesPerHour, limits)),
    row('download', trafficText(card.downloadBytesPerHour, limits)),
    ...[card.limitedBy, gain].filter((sentence) => sentence !== '').map((sentence) => `  ${sentence}`),
  ].join('\n')
}

const hostWidths = [4, 20, 20, 14, 16]
const cells = (texts: readonly string[]): string =>
  texts.map((text, index) => columnRight(text, hostWidths[index] ?? 0)).join('')

function hostRow({ peers, fits, ...row }: HostForecast['byPeers'][number]): string {
  if (!fits) return cells([`${peers}`, 'does not fit'])
  return cells([
    `${peers}`,
    formatDurationRange(row.seconds),
    formatRange(row.samplesPerSecond, (rate) => formatRate(rate).replace(' samples/s', '')),
    formatBytes(row.memoryBytes),
    formatTraffic(row.uploadBytesPerHour),
  ])
}

export function hostText({ byPeers, limitedBy }: HostForecast): string {
  return [
    cells(['PCs', 'time', 'samples/s', 'memory', 'upload an hour']),
    ...byPeers.map(hostRow),
    limitedBy,
    'With PCs like this one, in one home or in several; memory and upload are those of the PC that is given most.',
  ].join('\n')
}
