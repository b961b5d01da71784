import { describe, expect, it } from 'vitest'
import { recipe } from '../../shared/job/recipe.ts'
import { desktopSettings } from '../../shared/desktop-settings.ts'
import { jobFile } from '../../shared/job/spec.ts'
import { agentLine, commands, faceLine } from '../../shared/messages/control.ts'
import { readSettings } from '../../shared/settings.ts'

/**
 * Names that other versions, users' files and scripts rely on. A change here is a change for them: give it a new
 * version or a migration, and a line in the CHANGELOG.
 */
// The messages between agents are frozen in wire.test.ts.
describe('names that may not change unnoticed', () => {
  it('are the commands and lines of the control socket', () => {
    expect(Object.keys(commands)).toEqual([
      'status',
      'host',
      'join',
      'start',
      'pause',
      'resume',
      'finish',
      'leave',
      'preview',
      'limits',
      'setLimits',
      'power',
      'models',
      'inspectData',
      'forecastHost',
      'invite',
      'removeMember',
      'evaluate',
      'predict',
      'exportModel',
      'diagnostics',
      'backupIdentity',
      'restoreIdentity',
      'reset',
      'shutdown',
    ])
    expect(faceLine.options.map((option) => option.shape.type.value)).toEqual(['hello', 'command', 'watch'])
    expect(agentLine.options.map((option) => option.shape.type.value)).toEqual([
      'welcome',
      'done',
      'failed',
      'snapshot',
    ])
  })

  it('are the settings and their defaults', () => {
    expect(readSettings({})).toEqual({
      version: 2,
      displayName: '',
      limits: {
        memoryBytes: 0,
        computeShare: 1,
        uploadBytesPerSecond: 0,
        downloadBytesPerSecond: 0,
        trainOnBattery: false,
        idleMinutes: 0,
        pausePrograms: [],
        networkIsMetered: false,
      },
      network: { port: 0, address: '0.0.0.0', localDiscovery: true },
      engine: { backend: 'auto', threads: 0 },
    })
  })

  it('are the settings of the desktop and their defaults', () => {
    expect(desktopSettings.parse({})).toEqual({ startAtLogin: false, notifications: true, theme: 'system' })
  })

  it('are the axes of a recipe and their defaults', () => {
    expect(recipe.parse({})).toEqual({
      placement: 'stages',
      schedule: { microBatch: 16 },
      sync: { type: 'multi-ring-mean', averageEveryUpdates: 10 },
      staleness: 'predict',
      codec: 'auto',
      optimizer: {
        type: 'adamw',
        learningRate: 0.003,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weightDecay: 0.01,
      },
      learningRate: { type: 'constant', warmupUpdates: 0 },
    })
  })

  it('are the fields of a job file', () => {
    expect(Object.keys(jobFile.shape)).toEqual([
      'name',
      'model',
      'data',
      'recipe',
      'target',
      'validation',
      'gathering',
      'seed',
      'continueFrom',
    ])
  })
})
