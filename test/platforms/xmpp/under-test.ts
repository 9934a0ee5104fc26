/** The server that the XMPP suite runs against: Prosody, or the one that the files of a directory of its own ask for. */
import { sparseXmppServers, type XmppServerKind, xmppServers } from '../../support/xmpp-servers.ts'

type Name = 'Prosody' | 'ejabberd' | 'jabberd2'

/** What the suite does that not every server can, with the reason. Everything else has to work on each of them. */
const cannot = {
  Prosody: {},
  jabberd2: {},
  ejabberd: {
    'forget an occupant': 'no command of ejabberd makes a room forget one of its people',
    'tell occupants apart by ids': 'ejabberd 23.01 knows no ids of occupants (XEP-0421)',
    'let the unbanned speak':
      'ejabberd 23.01 lets in without a voice who was put out as an outcast',
    'end streams with the password': 'ejabberd leaves those online who know the old password',
  },
} satisfies Record<Name, Record<string, string>>

type Ability = keyof (typeof cannot)['ejabberd']

let used: Name = 'Prosody'

/** Before the files of the suite are imported. */
export function useServer(name: Name): void {
  used = name
}

export function serverUnderTest(): XmppServerKind {
  const kind = [...xmppServers, ...sparseXmppServers].find(({ name }) => name === used)
  if (!kind) throw new Error(`There is no server ${used}`)
  return kind
}

/** For the options of a test: why the server cannot do what it needs. */
export function unable(ability: Ability): { readonly skip: string | false } {
  const reasons: Readonly<Partial<Record<Ability, string>>> = cannot[used]
  return { skip: reasons[ability] ?? false }
}
