/** Places as Telegram is given them: whoever knows a venue is named with its ids of it. */
import t from 'tap'
import { locationOf } from '../../src/platforms/telegram/writing/media.ts'

const place = { kind: 'location' as const, latitude: 35.7, longitude: 51.4 }
const named = { title: 'Azadi Tower', address: 'Tehran' }

t.test('a venue is of Foursquare, of Google, or of nobody', async (t) => {
  const sent = (ids: object) => locationOf({ ...place, venue: { ...named, ...ids } })
  const venue = { _: 'inputMediaVenue', ...named }
  t.match(sent({ foursquareId: 'f', foursquareType: 'arts/tower' }), {
    ...venue,
    ...{ provider: 'foursquare', venueId: 'f', venueType: 'arts/tower' },
  })
  t.match(sent({ googleId: 'g', googleType: 'landmark' }), {
    ...venue,
    ...{ provider: 'gplaces', venueId: 'g', venueType: 'landmark' },
  })
  t.match(sent({}), { ...venue, provider: 'foursquare', venueId: '', venueType: '' })
})

t.test('a place is live only for a time', async (t) => {
  t.match(locationOf(place), { _: 'inputMediaGeoPoint', geoPoint: { lat: 35.7, long: 51.4 } })
  t.match(locationOf({ ...place, liveSeconds: 60 }), { _: 'inputMediaGeoLive', period: 60 })
})
