/** The suite's `xmpp-contents`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-contents.test.ts')
