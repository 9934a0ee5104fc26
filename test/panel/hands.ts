/** What a person does at a page, in any browser: looks for what it says, points and types. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Engine } from './engines.ts'

const patience = 30_000
const pause = 100

/** Where the middle of something is that can be seen and is not covered, found by its name among what a selector finds. */
const place = (selector: string, name: string) => `(() => {
  const named = (element) => [element.getAttribute('aria-label'), element.innerText]
    .some((text) => text?.trim() === ${JSON.stringify(name)})
  const element = [...document.querySelectorAll(${JSON.stringify(selector)})]
    .find((element) => element.checkVisibility() && (${name === ''} || named(element)))
  if (!element || element.disabled) return null
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  const { x, y, width, height } = element.getBoundingClientRect()
  const middle = { x: Math.round(x + width / 2), y: Math.round(y + height / 2) }
  const top = document.elementFromPoint(middle.x, middle.y)
  return element.contains(top) || element.labels?.[0]?.contains(top) ? middle : null
})()`

export class Hands {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The value of an expression, once it is neither false nor absent. */
  async until<T>(expression: string, name = expression): Promise<T> {
    const last = Date.now() + patience
    for (;;) {
      const value = await this.#engine.read<T | null | false>(expression)
      if (value !== null && value !== false) return value
      if (Date.now() > last) {
        const text = await this.#engine.read<string>(
          'location.href + "\\n" + document.body.innerText',
        )
        throw new Error(`not so: ${name}\n${text}`)
      }
      await delay(pause)
    }
  }

  see(text: string) {
    return this.until(`document.body.innerText.includes(${JSON.stringify(text)})`)
  }

  async press(selector: string, name = '') {
    const { x, y } = await this.until<{ x: number; y: number }>(
      place(selector, name),
      `${selector} ${name}`,
    )
    const actions = [
      { type: 'pointerMove', x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await this.#engine.act([{ type: 'pointer', id: 'mouse', actions }])
  }

  async type(text: string) {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.#engine.act([{ type: 'key', id: 'keys', actions }])
  }

  async fill(selector: string, text: string) {
    await this.press(selector)
    await this.type(text)
  }
}

/** As WebDriver writes the key. */
export const ENTER = '\uE007'
