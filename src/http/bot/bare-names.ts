/** Names of files that stand without quotes, as grammY writes them: the parser would drop their spaces and quotes. */

const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20]
const [QUOTE, SEMICOLON, EQUALS] = [0x22, 0x3b, 0x3d]
/** What the parser makes something of in a bare name, and what stands for it on the way through. */
const STAND_INS: ReadonlyMap<number, number> = new Map([
  [SPACE, 1],
  [TAB, 2],
  [QUOTE, 3],
])
const DISPOSITION = /^content-disposition:/i
const BEFORE_NAME = /;\s*filename=$/i
/** Each equals sign has its end of the line looked at, and no more: whoever writes thousands must not make it dear. */
const BEFORE_NAME_LENGTH = 32
/** No client puts a name behind so much else; whoever does so keeps the parser's reading. */
const LINE_LENGTH = 1_024

/** The name that was meant. */
export function nameBehind(name: string): string {
  let meant = name
  for (const [byte, standIn] of STAND_INS) {
    meant = meant.replaceAll(String.fromCharCode(standIn), String.fromCharCode(byte))
  }
  return meant.trim()
}

/** Reads along in one multipart body and changes bytes where they are, before the parser sees them. */
export class BareNames {
  readonly #delimiter: Buffer
  /** The end of what came before, which may be the beginning of a delimiter. */
  #tail = Buffer.from('\r\n')
  #place: 'content' | 'delimiter' | 'headers' | 'value' | 'name' = 'content'
  #line = ''

  constructor(contentType: string) {
    const [, quoted, bare = ''] = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(contentType) ?? []
    this.#delimiter = Buffer.from(`\r\n--${quoted ?? bare.trim()}`, 'latin1')
  }

  guard(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#place === 'content') at = this.#seek(chunk, at)
      else this.#read(chunk, at++)
    }
  }

  /** Where the next delimiter ends, or the chunk. */
  #seek(chunk: Buffer, from: number): number {
    const { length } = this.#delimiter
    const edge = Buffer.concat([this.#tail, chunk.subarray(from, from + length - 1)])
    const across = edge.indexOf(this.#delimiter)
    const within = across < 0 ? chunk.indexOf(this.#delimiter, from) : -1
    if (across < 0 && within < 0) {
      const last = chunk.subarray(Math.max(from, chunk.length - length + 1))
      this.#tail = Buffer.concat([this.#tail, last]).subarray(1 - length)
      return chunk.length
    }
    this.#place = 'delimiter'
    return across < 0 ? within + length : from + across + length - this.#tail.length
  }

  #read(chunk: Buffer, at: number): void {
    const byte = chunk[at]!
    const isSpace = byte === SPACE || byte === TAB
    // Its first byte tells whether a value is bare.
    if (this.#place === 'value' && !isSpace) this.#place = byte === QUOTE ? 'headers' : 'name'
    if (byte === LINE_FEED) this.#endLine()
    else if (byte === SEMICOLON && this.#place === 'name') this.#place = 'headers'
    else if (this.#place === 'name') chunk[at] = STAND_INS.get(byte) ?? byte
    else if (byte !== RETURN) this.#note(byte)
  }

  #note(byte: number): void {
    if (this.#line.length === LINE_LENGTH) return
    this.#line += String.fromCharCode(byte)
    const mayBegin = this.#place === 'headers' && byte === EQUALS
    if (mayBegin && isBeforeName(this.#line)) this.#place = 'value'
  }

  /** An empty line ends the headers; the one that the delimiter ends is none of them. */
  #endLine(): void {
    const isOver = this.#place === 'headers' && this.#line === ''
    this.#place = isOver ? 'content' : 'headers'
    this.#tail = Buffer.from('\r\n')
    this.#line = ''
  }
}

const isBeforeName = (line: string): boolean =>
  BEFORE_NAME.test(line.slice(-BEFORE_NAME_LENGTH)) && DISPOSITION.test(line)
