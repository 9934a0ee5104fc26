/** Places credentials at nodes by weighted rendezvous hashing over the names of nodes. Every node computes the same place alone. */

interface Place {
  readonly name: string
  readonly weight: number
}

/**
 * The name with the highest score for this credential; undefined where there is none. A node that ends passes its
 * credentials on to all others, and one that comes back under its name gets the same ones again.
 */
export function placeOf(credentialId: number, places: readonly Place[]): string | undefined {
  let best: { readonly name: string; readonly score: number } | undefined
  for (const { name, weight } of places) {
    const score = -weight / Math.log(fraction(hashOf(name), credentialId))
    const isBetter = !best || score > best.score || (score === best.score && name > best.name)
    if (isBetter) best = { name, score }
  }
  return best?.name
}

/** FNV-1a, of UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash
}

/** The finalizer of MurmurHash3: every bit of the input changes half of the output. */
function mixed(hash: number): number {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

const HALF = 2 ** 32

/** Between 0 and 1, without both: evenly spread over pairs of a name and a number. */
function fraction(name: number, id: number): number {
  const high = Math.floor(id / HALF)
  return ((mixed(name ^ mixed(id ^ mixed(high))) >>> 0) + 0.5) / HALF
}
