/** `Menu`, `Tray`, `nativeImage` and `Notification`: objects that nobody sees; a spec clicks them. */
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'

interface ItemOptions {
  readonly id?: string
  readonly label?: string
  readonly type?: string
  readonly enabled?: boolean
  readonly click?: () => void
}

class MenuItem {
  readonly id: string
  readonly label: string
  readonly type: string
  readonly enabled: boolean
  readonly click: () => void

  constructor({ id = '', label = '', type = 'normal', enabled = true, click }: ItemOptions) {
    this.id = id
    this.label = label
    this.type = type
    this.enabled = enabled
    this.click = () => {
      if (enabled) click?.()
    }
  }
}

export class Menu {
  readonly items: readonly MenuItem[]

  constructor(items: readonly MenuItem[]) {
    this.items = items
  }

  static buildFromTemplate(template: readonly ItemOptions[]): Menu {
    return new Menu(template.map((options) => new MenuItem(options)))
  }

  static setApplicationMenu(): void {
    // There is no bar to show it in.
  }

  getMenuItemById(id: string): MenuItem | null {
    return this.items.find((item) => item.id === id) ?? null
  }
}

interface NativeImage {
  readonly path: string
  isEmpty(): boolean
  setTemplateImage(on: boolean): void
}

export class ImageMissingError extends Error {}

export const nativeImage = {
  createFromPath: (path: string): NativeImage => ({
    path,
    isEmpty: () => !existsSync(path),
    setTemplateImage: () => undefined,
  }),
}

/** On a real status bar an empty picture is an invisible icon; here it is an error. */
export class Tray extends EventEmitter {
  constructor(image: NativeImage) {
    super()
    this.setImage(image)
  }

  setImage(image: NativeImage): void {
    if (image.isEmpty()) throw new ImageMissingError(`the tray's picture is missing: ${image.path}`)
  }

  setToolTip(_text: string): void {
    // Nobody points at it.
  }

  setContextMenu(_menu: Menu): void {
    // A spec clicks the menu itself.
  }
}

export class Notification extends EventEmitter {
  static isSupported(): boolean {
    return true
  }

  readonly title: string
  readonly body: string

  constructor({ title, body }: { readonly title: string; readonly body: string }) {
    super()
    this.title = title
    this.body = body
  }

  show(): void {
    this.emit('show')
  }
}
