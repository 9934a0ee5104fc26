/** What the XMPP tests need of a server, whoever made it. */
import { existsSync } from 'node:fs'

export interface XmppServerOptions {
  /** How long the server keeps a cut stream for resumption. */
  readonly hibernationSeconds?: number
  /** Neither people nor rooms have an archive (XEP-0313). */
  readonly withoutArchive?: boolean
  /** No place where an account's devices keep anything (XEP-0163), and so no bookmarks. */
  readonly withoutBookmarks?: boolean
  /** Keeps archives in memory where the server can: the pages of Prosody's archive on disk slow down as it grows. */
  readonly quickArchive?: boolean
}

export interface XmppServer {
  /** `xmpp.test`; its rooms are at `rooms.xmpp.test`, without an archive at `forgetful.xmpp.test`. */
  readonly domain: string
  readonly port: number
  /** Where the files are that people share. */
  readonly httpPort: number
  /** As the field `server` of a linked account. */
  readonly server: string
  /** For so long after the end of a stream the server may end the next one by mistake. */
  readonly restMilliseconds?: number
  up(): Promise<void>
  /** Ends the process without a goodbye; `up` starts it again with the same data. */
  kill(): Promise<void>
  /** Ends the process and deletes its data. */
  stop(): Promise<void>
  /** Resolves with the address of the new account. */
  register(user: string, password: string): Promise<string>
  /** Ends the account's streams too. */
  setPassword(user: string, password: string): Promise<void>
  /** Ends the account's streams too. */
  delete(user: string): Promise<void>
}

/** Largest file that the servers of the tests take. */
export const largestUpload = 5 * 2 ** 20

/** Why the XMPP tests cannot run here although there is a server; absent when they can. */
export const slixmppMissing =
  existsSync('/usr/bin/python3') && existsSync('/usr/lib/python3/dist-packages/slixmpp')
    ? undefined
    : 'python3-slixmpp is not installed'
