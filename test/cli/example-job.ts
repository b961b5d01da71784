/** A job in the middle of its training, as an agent would show it. */
import type { JoinCard } from '../../shared/messages/cards.ts'
import type { JobView, MemberView } from '../../shared/messages/control.ts'

export function exampleMember(peer: string, change: Partial<MemberView> = {}): MemberView {
  return {
    peer,
    displayName: peer,
    state: 'training',
    reason: '',
    updates: 142,
    samples: 9088,
    busyShare: 0.83,
    peakTensorBytes: 12_900_000,
    maxStaleness: 2,
    droppedGradients: 0,
    ...change,
  }
}

const stage = (peer: string, from: number, to: number) => ({
  peer,
  layers: [from, to] as [number, number],
  memoryBytes: 1e7,
  secondsPerMicroBatch: 0.01,
})

export const exampleJob: JobView = {
  job: 'a'.repeat(64),
  name: 'digits',
  role: 'host',
  phase: 'training',
  text: 'averaging round 14 waits for cluster 2',
  invite: 'rookery:invite',
  members: [
    exampleMember('laptop'),
    exampleMember('old-pc', { busyShare: 0.64 }),
    exampleMember('desk'),
    exampleMember('tower', { state: 'lost', reason: 'sent nothing for 30 s', busyShare: 0.2 }),
    exampleMember('phone', { state: 'idle', reason: '' }),
  ],
  plan: {
    number: 1,
    layout: {
      clusters: [
        { stages: [stage('laptop', 0, 4), stage('old-pc', 4, 9)], samplesPerSecond: 612 },
        { stages: [stage('desk', 0, 2), stage('tower', 2, 9)], samplesPerSecond: 540 },
      ],
      rings: [],
      unused: [{ peer: 'phone', reason: 'its speed was measured as 0' }],
      samplesPerSecond: 1152,
      averagingSeconds: 0.5,
    },
    accumulate: 4,
    inFlight: [3, 3],
    active: [0],
  },
  updates: 142,
  targetUpdates: 200,
  samples: 9088,
  samplesPerSecond: 1152,
  secondsLeft: [12, 15],
  trainingCurve: Array.from({ length: 142 }, (_, index) => ({
    updates: index + 1,
    loss: 2.3 * Math.exp(-index / 40) + 0.2,
  })),
  validationCurve: [{ updates: 100, scores: { loss: 0.31, accuracy: 0.912, top5: 0.99, perplexity: 1.36 } }],
  log: [],
  result: null,
}

export const exampleCard: JoinCard = {
  ...{ job: 'a'.repeat(64), name: 'digits', host: 'ann', hostName: 'ann’s PC' },
  ...{ model: 'digits-cnn', parameters: 15_578, inviteExpiresAt: 0, members: 2 },
  ...{ memoryBytes: 8 * 2 ** 20, samplesPerSecond: [50, 100] },
  ...{ uploadBytesPerHour: [1e9, 2e9], downloadBytesPerHour: [1e9, 1e9] },
  limitedBy: 'The processor of this PC is what limits it.',
  outlook: {
    now: null,
    withYou: { samplesPerSecond: [100, 150], seconds: [3600, 7200] },
    withOneMore: { samplesPerSecond: [150, 200], seconds: [3000, 5400] },
    uploadBytesPerSecond: [580_000, 750_000],
  },
  gain: 'One more PC like this one would bring 40 % more samples a second.',
}
