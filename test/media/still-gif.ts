/** A GIF whose first frame fills the canvas with one colour; each further one changes a single pixel. Tiny as a file. */

export function stillGif({ side, frames }: { side: number; frames: number }): Buffer {
  const size = [side & 255, side >> 8]
  const canvas = Buffer.from([...size, ...size, 0x91, 0, 0])
  const colours = Buffer.from([0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0])
  const delay = Buffer.from([0x21, 0xf9, 4, 4, 4, 0, 0, 0])
  const picture = (sides: number[], pixels: number) => [
    delay,
    Buffer.from([0x2c, 0, 0, 0, 0, ...sides, 0]),
    oneColour(pixels),
  ]
  const further = Buffer.concat(picture([1, 0, 1, 0], 1))
  return Buffer.concat([
    Buffer.from('GIF89a'),
    canvas,
    colours,
    ...picture([...size, ...size], side * side),
    ...Array.from({ length: frames - 1 }, () => further),
    Buffer.from([0x3b]),
  ])
}

const CLEAR = 4
const END = 5
const FULL = 4_096

/** LZW of `pixels` zeros: each code stands for a run that is one longer than the last. */
function oneColour(pixels: number): Buffer {
  const bits = new Bits()
  let left = pixels
  while (left > 0) {
    let width = 3
    bits.put(CLEAR, width)
    bits.put(0, width)
    left--
    let next = END + 1
    for (let run = 2; left > 0 && next < FULL; run++, next++) {
      const length = Math.min(run, left)
      bits.put(length === 1 ? 0 : length + CLEAR, width)
      left -= length
      if (next + 1 === 1 << width && width < 12) width++
    }
    if (left === 0) bits.put(END, width)
  }
  return blocks(bits.bytes())
}

class Bits {
  readonly #bytes: number[] = []
  #held = 0
  #count = 0

  put(code: number, width: number): void {
    this.#held |= code << this.#count
    this.#count += width
    for (; this.#count >= 8; this.#count -= 8, this.#held >>= 8) this.#bytes.push(this.#held & 255)
  }

  bytes(): Buffer {
    return Buffer.from(this.#count > 0 ? [...this.#bytes, this.#held & 255] : this.#bytes)
  }
}

function blocks(data: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([2])]
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255)
    parts.push(Buffer.from([block.length]), block)
  }
  return Buffer.concat([...parts, Buffer.from([0])])
}
