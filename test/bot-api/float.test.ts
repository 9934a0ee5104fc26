/** Numbers that may have a fraction, as bots read them. */
import t from 'tap'
import { locationJson } from '../../src/bot-api/present/content.ts'

const written = (latitude: number) => JSON.stringify(locationJson({ latitude, longitude: 51.4 }))

t.test('there are six digits behind the point, also of a whole number', async (t) => {
  t.equal(written(35), '{"latitude":35.000000,"longitude":51.400000}')
})

t.test('what a network tells of no place is a number, too', async (t) => {
  const none = '{"latitude":0.000000,"longitude":51.400000}'
  for (const latitude of [Number.NaN, Infinity, -Infinity]) t.equal(written(latitude), none)
})
