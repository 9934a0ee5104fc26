/** The suite's `xmpp-uploads`, on ejabberd. */
import { useServer } from '../xmpp/under-test.ts'

useServer('ejabberd')
await import('../xmpp-uploads.test.ts')
