/** The suite's `xmpp-moderation`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-moderation.test.ts')
