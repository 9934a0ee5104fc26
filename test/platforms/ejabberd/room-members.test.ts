/** The suite's `xmpp-room-members`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-room-members.test.ts')
