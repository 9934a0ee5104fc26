/** The suite's `xmpp-room-authors`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-room-authors.test.ts')
