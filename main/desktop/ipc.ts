/** The window's commands: who asks is checked, what is asked is validated, every answer is a value. */
import type { IpcMain, IpcMainInvokeEvent, WebContents } from 'electron'
import { InvalidInputError, reportOf } from '../../shared/errors.ts'
import { commandChannel } from '../../shared/messages/channels.ts'
import {
  type Outcome,
  type WindowCommandName,
  windowCommands,
  type WindowInput,
  type WindowOutput,
} from '../../shared/messages/ipc.ts'
import { describeIssue } from '../../shared/settings.ts'
import { ForeignSenderError } from './errors.ts'
import { windowOrigin } from './window/app-protocol.ts'

/** One handler a command; forgetting one does not compile. */
export type WindowHandlers = {
  readonly [N in WindowCommandName]: (input: WindowInput<N>) => Promise<WindowOutput<N>>
}

type SenderOf = Pick<IpcMainInvokeEvent, 'sender' | 'senderFrame'>

/** @param page - the window's contents, the only one that may ask */
export function serveWindow(
  ipc: Pick<IpcMain, 'handle'>,
  handlers: WindowHandlers,
  page: () => WebContents | undefined,
): void {
  for (const name of Object.keys(handlers) as WindowCommandName[]) {
    ipc.handle(commandChannel(name), (event, input: unknown) =>
      answer(async () => {
        checkSender(event, page())
        return handle(handlers, name, input)
      }),
    )
  }
}

/** @throws ForeignSenderError unless it is the main frame of our window and shows our page */
function checkSender({ sender, senderFrame }: SenderOf, page: WebContents | undefined): void {
  const isWindow = sender.id === page?.id
  const isItsPage = senderFrame?.parent === null && senderFrame.url.startsWith(`${windowOrigin}/`)
  if (!isWindow || !isItsPage) throw new ForeignSenderError('only the window of Rookery may ask this')
}

/** @throws InvalidInputError for an input of another shape; what the handler throws */
async function handle<N extends WindowCommandName>(
  handlers: WindowHandlers,
  name: N,
  input: unknown,
): Promise<WindowOutput<N>> {
  const parsed = windowCommands[name].in.safeParse(input)
  if (!parsed.success) throw new InvalidInputError(`${name}: ${describeIssue(parsed.error)}`)
  return handlers[name](parsed.data as WindowInput<N>)
}

async function answer<T>(deed: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, output: await deed() }
  } catch (thrown) {
    return { ok: false, error: reportOf(thrown) }
  }
}
