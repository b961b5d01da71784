/** Names of the channels between window and main process; without a schema, so that the preload stays small. */
import type { WindowCommandName } from './ipc.ts'

/** The window asks and is answered. */
export const commandChannel = (name: WindowCommandName): string => `command:${name}`

/** The window is told. */
export const toldChannels = { snapshot: 'told:snapshot', desktop: 'told:desktop' } as const
