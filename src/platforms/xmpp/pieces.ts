/** Gives the parser what comes in tag by tag: in a text without an end it looks for one anew at each character. */

/** What keeps a connection alive, and has to go where it belongs: not before the greeting of the next stream. */
const longestPause = 16

export class Pieces {
  #rest: string[] = []

  /** All that is complete by now. */
  take(text: string): string {
    const end = text.lastIndexOf('>') + 1
    if (end === 0 && !isPause(text)) {
      this.#rest.push(text)
      return ''
    }
    const tail = text.slice(end)
    const isWhole = isPause(tail)
    const whole = this.#rest.join('') + (isWhole ? text : text.slice(0, end))
    this.#rest = isWhole ? [] : [tail]
    return whole
  }
}

const isPause = (text: string) => text.length <= longestPause && text.trim() === ''
