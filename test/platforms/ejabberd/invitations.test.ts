/** The suite's `xmpp-invitations`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-invitations.test.ts')
