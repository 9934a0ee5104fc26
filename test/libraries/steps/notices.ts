/** Steps: programs that only send tell people something, in their own words around it. */
import { expect } from '../includes.ts'
import type { Stage } from '../stage.ts'
import { echoing, lostAnswer, overRestart, type Voice } from './restarts.ts'
import type { Step } from './step.ts'

const notify = (stage: Stage, more: object) =>
  stage.call('notify', { chat_id: stage.account.ada.id, ...more })

/** Both texts stand somewhere in one message. */
const saying =
  (...texts: readonly string[]) =>
  (said: unknown) =>
    texts.every((text) => String(said).includes(text))

const notifying: Voice = {
  say: (stage, number) => notify(stage, { title: `Kettle ${number}`, body: 'now' }),
  isOwn: true,
  patience: 20_000,
}
const restartSteps = [overRestart('notices', notifying), lostAnswer(notifying)]

export const noticeSteps: readonly Step[] = [
  [
    'notice',
    async (stage) => {
      expect(await notify(stage, { title: 'Kettle', body: 'It boils' }), true)
      await stage.sees({ text: saying('Kettle', 'It boils') })
    },
  ],
  [
    'signs of markup',
    async (stage) => {
      const body = 'a_b *c* <d> [e](f) 1.5 & more'
      expect(await notify(stage, { title: 'Marks', body }), true)
      await stage.sees({ text: saying('Marks', body) })
    },
  ],
  [
    'notice to a group',
    async (stage) => {
      const chat_id = await stage.group()
      expect(await notify(stage, { chat_id, title: 'All', body: 'Tea is ready' }), true)
      const { client, ada } = stage.account
      const path = `/sandbox/people/${ada.id}/inbox?chat=${chat_id}&wait_seconds=10`
      const { messages } = await client.result('GET', path)
      expect(messages, [{ text: saying('All', 'Tea is ready') }])
    },
  ],
  ...restartSteps,
  [
    'chat that is none',
    async (stage) => {
      expect(await notify(stage, { chat_id: 1, title: 'To', body: 'nobody' }), false)
    },
  ],
]

export const attachmentSteps: readonly Step[] = [
  [
    'notice with a picture and a file',
    async (stage) => {
      const { picture, document } = stage.account.files
      for (const attachment of [picture, document]) {
        expect(await notify(stage, { title: 'See', body: 'the file', attachment }), true)
      }
      await stage.sees({ media: { type: 'photo' } })
      await stage.sees({ media: { type: 'document', file_name: 'notes.txt' } })
    },
  ],
]

/** Gateways go on preparing their agent after they have begun to listen: a minute of work beside other programs. */
const agentPatience = 240_000

const commandAnswered = async (stage: Stage) => {
  await stage.write('/whoami')
  const { ada, me } = stage.account
  await stage.sees({ text: saying(`${ada.id}`), from: { id: me.id } }, agentPatience)
}

const askModel = (stage: Stage, kettle: number) =>
  stage.write(`Tell me about kettle ${kettle} , please`)

const modelAnswers = async (stage: Stage) => {
  await askModel(stage, 1)
  const answer = { text: 'Kettle 1 boils.', entities: [{ type: 'bold' }] }
  await stage.sees({ ...answer, from: { id: stage.account.me.id } }, agentPatience)
}

const asking: Voice = {
  say: async (stage, number) => {
    await askModel(stage, number)
    return undefined
  },
  isOwn: false,
  patience: agentPatience,
}

/** Of a gateway for agents, whose model knows about kettles. */
export const gatewaySteps: readonly Step[] = [
  ['command answered', commandAnswered],
  ['answer of the model', modelAnswers],
  overRestart('answers of the model', asking),
  lostAnswer(asking),
]

/** Of a program that also notifies. */
export const notifyingGatewaySteps: readonly Step[] = [
  ...gatewaySteps,
  ...noticeSteps.filter(([name]) => name !== 'signs of markup'),
]

/** Of a home that tells one person something and has automations for what she answers. */
export const homeSteps: readonly Step[] = [
  [
    'automation answers a command',
    async (stage) => {
      await stage.write('/echo one')
      await stage.sees({ text: 'echo one' })
    },
  ],
  [
    'text heard',
    async (stage) => {
      const { ada } = stage.account
      await stage.write('It is cold')
      const told = { text: 'It is cold', user_id: ada.id, from_first: 'Ada' }
      await stage.bot.hears({ telegram_text: told })
    },
  ],
  ...noticeSteps.filter(([name]) => name === 'notice'),
  ...attachmentSteps,
  [
    'button pressed and answered',
    async (stage) => {
      const { ada, me } = stage.account
      const buttons = [['Boil', '/boil']]
      expect(await notify(stage, { title: 'Kettle', body: 'Cold', buttons }), true)
      const inline_keyboard = [[{ text: 'Boil', callback_data: '/boil' }]]
      const { message_id } = await stage.sees({ text: saying('Cold'), inline_keyboard })
      const press = { chat: me.id, message_id, callback_data: '/boil' }
      const pressed = await stage.asAda('POST', '/presses', press)
      expect(pressed, { answered: true, text: 'It will', show_alert: true })
      await stage.bot.hears({ telegram_callback: { data: '/boil', user_id: ada.id } })
    },
  ],
  ...restartSteps,
  overRestart('answers of automations', echoing),
]
