/** Mentions of people whom the network does not know, and of people about whom it does not answer. */
import t from 'tap'
import { failed, notFound } from '../../machines/model/failure.ts'
import { ignoreUnknownPerson } from '../../src/platforms/telegram/operations/context.ts'
import { refused } from '../actors/refused.ts'

t.test('nobody stands for a person who is not known or not to be mentioned', async (t) => {
  t.equal(await Promise.reject(notFound('user')).catch(ignoreUnknownPerson), undefined)
  t.equal(
    await Promise.reject(failed('forbidden', 'private')).catch(ignoreUnknownPerson),
    undefined,
  )
})

t.test('a network that does not answer leaves no mention out', async (t) => {
  for (const code of ['unavailable', 'timeout', 'rate_limited', 'bad_gateway'] as const) {
    await refused(t, Promise.reject(failed(code)).catch(ignoreUnknownPerson), { code })
  }
  await t.rejects(Promise.reject(new Error('a defect')).catch(ignoreUnknownPerson), {
    message: 'a defect',
  })
})
