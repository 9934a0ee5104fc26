/** Methods that end a bot's stay on this server. The account itself stays linked: it is its owner's, not the key's. */
import { type Method, result } from '../method.ts'

const close: Method = {
  name: 'close',
  summary: 'Lets go of what waits; everything is kept, and the next call goes on',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key }) => {
    key.letGo()
    return result(true)
  },
}

const logOut: Method = {
  name: 'logOut',
  summary: 'Removes the webhook and drops what is pending',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key }) => {
    key.letGo()
    if (key.hasWebhook) await key.changeWebhook({ kind: 'delete', dropTo: key.newest })
    else await key.dropPending()
    return result(true)
  },
}

export const sessionMethods = [logOut, close]
