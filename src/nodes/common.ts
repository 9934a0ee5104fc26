/** Settings that all nodes of a database must share. A node that differs from those that are up refuses to join. */
import { StartFailure } from '../process/fatal-errors.ts'

export interface Common {
  /** Tokens name it: those of one node have to be valid at all. */
  readonly baseUrl: string
  /** Names of the keys in the key file. The first one seals. */
  readonly keys: readonly string[]
  /** Names of the place where files lie. */
  readonly files: readonly string[]
}

/** Another node, as its row shows it. */
export interface Neighbour {
  readonly name: string
  readonly common: Common
}

const shares = (some: readonly string[], others: readonly string[]) =>
  some.some((each) => others.includes(each))

/** Throws for the first node that differs, and names the variable. */
export function assertCommon(own: Common, neighbours: readonly Neighbour[]): void {
  for (const { name, common } of neighbours) {
    if (common.baseUrl !== own.baseUrl) {
      throw new StartFailure(
        `BASE_URL: ${own.baseUrl} here, but ${common.baseUrl} at the node ${name}, which is up; to change it stop all nodes first`,
      )
    }
    // Each node must open what the other seals. While a key is replaced, the key files may differ in their order.
    const opens = own.keys.includes(common.keys[0] ?? '') && common.keys.includes(own.keys[0] ?? '')
    if (!opens) {
      throw new StartFailure(
        `KEY_FILE: it differs from that of the node ${name}, which is up: each needs the first key of the other, too`,
      )
    }
    if (!shares(own.files, common.files)) {
      throw new StartFailure(
        `DATA_DIR, S3_ENDPOINT, S3_BUCKET: the node ${name}, which is up, keeps its files elsewhere; all nodes need one bucket or one shared folder`,
      )
    }
  }
}
