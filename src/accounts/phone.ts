/** Phone numbers: their normal form, a check that they can receive codes, and the keyed hash that finds them. */
import { createHmac } from 'node:crypto'
import { type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { invalidField } from '../../machines/model/failure.ts'
import type { Vault } from '../security/vault.ts'

export interface Phone {
  /** In E.164 form. */
  readonly number: string
  readonly country: string
}

/** Number types refused: premium numbers, and numbers that are free in thousands. */
const refused: ReadonlySet<NumberType> = new Set<NumberType>([
  'PREMIUM_RATE',
  'SHARED_COST',
  'TOLL_FREE',
  'VOIP',
  'PAGER',
  'UAN',
  'VOICEMAIL',
])

export function parsePhone(text: string): Phone {
  const parsed = parsePhoneNumberFromString(text.trim(), { extract: false })
  if (!parsed?.isValid() || parsed.ext) {
    const example = '+14155550123'
    throw invalidField('phone', `must be a phone number in international form: ${example}`, {
      reason: 'phone_form',
      params: { example },
    })
  }
  if (refused.has(parsed.getType())) {
    throw invalidField('phone', 'is of a kind that codes are not sent to', {
      reason: 'phone_kind',
    })
  }
  return { number: parsed.number, country: `+${parsed.countryCallingCode}` }
}

/** The countries (ISO 3166-1) that the number may belong to; several where it is of no known range. */
export function countriesOf(number: string): readonly string[] {
  const parsed = parsePhoneNumberFromString(number)
  if (!parsed) return []
  return parsed.country ? [parsed.country] : parsed.getPossibleCountries()
}

type IndexOf = (phone: string) => Buffer

/** Finds phones that are stored sealed, by a keyed hash. */
export function phoneIndex(vault: Pick<Vault, 'derive'>): IndexOf {
  const key = vault.derive('phone-index')
  return (phone) => createHmac('sha256', key).update(phone).digest()
}
