/** What the states and events of an account are called, and the colours of its states. */
import type { Transition } from '../../api/types.ts'
import type { Translate } from '../../i18n/translate.ts'

/** The name of an inner state for people: that of the nearest state around it which has one. */
export function stateName(t: Translate, path: string): string {
  const names = path.split('.')
  for (let length = names.length; length > 0; length--) {
    const code = names.slice(0, length).join('.')
    const known = t.word('inner', code)
    if (known !== code.replaceAll('_', ' ')) return known
  }
  return path
}

/** The colours of the machine's inner states: those of their public meanings. */
const tones: readonly (readonly [state: RegExp, tone: string])[] = [
  [/^live\.online/, 'good'],
  [/^(crashed|live\.(deaf|limited))/, 'warn'],
  [/^(signedOut|invalid|failed|replaced)/, 'bad'],
  [/^(queued|waiting|stalled|resuming|live\.starting)/, 'busy'],
]

export const toneOfState = (state: string) =>
  tones.find(([form]) => form.test(state))?.[1] ?? 'idle'

/** It changed its node, and no state with that. */
export const isMove = ({ other_node }: Transition) => other_node !== undefined

/** By the time of the latest repeat: a repeated transition is one record, which the service orders by its first time. */
export const latestFirst = (entries: readonly Transition[]) =>
  entries.toSorted((a, b) => b.last_at.localeCompare(a.last_at))

export const KINDS = ['connection', 'network', 'people', 'gaps', 'nodes'] as const
type Kind = (typeof KINDS)[number]

const forms: readonly (readonly [event: RegExp, kind: Kind])[] = [
  [/^credential\./, 'people'],
  [/^(owner|actor)\.|^storage\./, 'nodes'],
  [/\.skipped$|^archive\.missing$|^rooms\.unshared$/, 'gaps'],
  [/^session\.(limited|replaced|revoked|invalid)$/, 'network'],
]

/** What made it happen. */
export const kindOf = ({ event }: Transition): Kind =>
  forms.find(([form]) => form.test(event))?.[1] ?? 'connection'
