/** The suite's `xmpp-xhtml`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-xhtml.test.ts')
