/** The code that was sent, kept over a reload: on a phone the page is often gone after a look at the messages. */
import type { SentCode } from '../../api/types.ts'

export interface WaitedCode extends SentCode {
  /** When it was sent. */
  readonly at: number
}

const KEPT = 'chapar.sent-code'

export function rememberCode(sent: WaitedCode): WaitedCode {
  sessionStorage.setItem(KEPT, JSON.stringify(sent))
  return sent
}

export const forgetCode = (): void => sessionStorage.removeItem(KEPT)

/** Undefined when none was sent, or it can no longer be entered. */
export function rememberedCode(): WaitedCode | undefined {
  const kept = sessionStorage.getItem(KEPT)
  if (kept === null) return undefined
  const sent = JSON.parse(kept) as WaitedCode
  return sent.at + sent.expires_in * 1000 > Date.now() ? sent : undefined
}
