/** What the operating system would do: dialogs that are closed at once, a clipboard, power, colours. */
import { EventEmitter } from 'node:events'

export const dialog = {
  showMessageBox: () => Promise.resolve({ response: 0, checkboxChecked: false }),
  showOpenDialog: () => Promise.resolve({ canceled: true, filePaths: [] as string[] }),
  showSaveDialog: () => Promise.resolve({ canceled: true, filePath: '' }),
}

export const shell = {
  openExternal: (_url: string) => Promise.resolve(),
  openPath: (_path: string) => Promise.resolve(''),
}

let copied = ''
export const clipboard = {
  writeText(text: string): Promise<void> {
    copied = text
    return Promise.resolve()
  },
  readText: () => Promise.resolve(copied),
}

class PowerMonitor extends EventEmitter {
  isOnBatteryPower(): boolean {
    return false
  }

  getSystemIdleTime(): number {
    return 0
  }
}
export const powerMonitor = new PowerMonitor()

class NativeTheme extends EventEmitter {
  shouldUseDarkColors = false
  #source = 'system'

  get themeSource(): string {
    return this.#source
  }

  set themeSource(source: string) {
    this.#source = source
    this.shouldUseDarkColors = source === 'dark'
    this.emit('updated')
  }
}
export const nativeTheme = new NativeTheme()
