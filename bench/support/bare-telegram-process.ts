/** The client library of Telegram without the service: signs in, sends and receives as fast as it can. */
import { MemoryStorage, TelegramClient } from '@mtcute/node'
import { trust } from '../../test/support/telegram-dc/crypto.ts'
import { answerParent, processor } from './child.ts'
import { Received, type Sending, sendSpread } from './load.ts'
import { APPLICATION, type TelegramAddress } from './telegram.ts'

let client: TelegramClient
let phone = ''
let phoneCodeHash = ''
const received = new Received()

answerParent({
  async start({ entrance, pem }: TelegramAddress) {
    await trust(pem)
    client = new TelegramClient({
      apiId: APPLICATION.id,
      apiHash: APPLICATION.hash,
      storage: new MemoryStorage(),
      logLevel: 0,
      defaultDcs: { main: entrance, media: { ...entrance, mediaOnly: true } },
    })
  },
  async begin(number: string) {
    phone = number
    const sent = await client.sendCode({ phone })
    if ('phoneCodeHash' in sent) phoneCodeHash = sent.phoneCodeHash
  },
  async finish(phoneCode: string) {
    await client.signIn({ phone, phoneCodeHash, phoneCode })
    client.onNewMessage.add((message) => {
      if (!message.isOutgoing) received.note()
    })
    await client.startUpdatesLoop()
  },
  send: ({ to, ...spread }: Sending) =>
    sendSpread(spread, (text) => client.sendText(Number(to), text)),
  expect: (count: number) => received.expect(count),
  processor,
  stop: () => client.destroy(),
})
