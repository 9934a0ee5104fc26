/** Phone numbers in E.164. The sandbox calls nobody, so any number of the right form will do. */
import { failed } from '../../../machines/model/failure.ts'

export function phoneNumber(given: string | undefined): string {
  if (!given) throw failed('bad_request', 'field "phone" is required')
  const phone = given.replaceAll(/[\s().-]/g, '')
  if (!/^\+[1-9]\d{6,14}$/.test(phone)) {
    throw failed('bad_request', 'field "phone" must be a phone number in international form')
  }
  return phone
}
