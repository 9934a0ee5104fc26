/** /sandbox/people/{person}/payments: pays the invoices of bots, with Telegram Stars or by a provider that charges nothing. */
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import type { Paid, Payable } from '../../sandbox/payments/checkout.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { Pay, Payment } from './offer-schemas.ts'
import { invoiceBody, nameBody, present } from './present.ts'
import { LinkedInvoice, Subscription } from './profile-schemas.ts'
import { deadline, described, PersonParams, type SandboxRoutes } from './route.ts'

const strict = { additionalProperties: false }

const SubscriptionChange = Type.Object(
  { charge_id: Type.String({ minLength: 1, maxLength: 100 }), is_canceled: Type.Boolean() },
  strict,
)

function paymentBody(paid: Paid) {
  const shown = { payment_id: paid.payment, state: paid.state }
  switch (paid.state) {
    case 'unanswered':
      return shown
    case 'refused':
      return { ...shown, error_message: paid.error }
    case 'shipping': {
      const shipping_options = paid.options.map((option) => ({
        ...option,
        prices: [...option.prices],
      }))
      return { ...shown, shipping_options }
    }
    case 'paid':
      return { ...shown, total_amount: paid.receipt.total, charge_id: paid.receipt.charge }
  }
}

interface Named {
  readonly chat?: number
  readonly message_id?: number
  readonly invoice_link?: string
  readonly payment_id?: string
}

function payableOf({ chat, message_id, invoice_link, payment_id }: Named): Payable {
  if (payment_id !== undefined) return { payment: payment_id }
  if (invoice_link !== undefined) return { link: invoice_link }
  if (chat !== undefined && message_id !== undefined) return { at: { chat, message: message_id } }
  throw failed('bad_request', 'what is to be paid is missing')
}

export const paymentRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/payments',
    {
      schema: {
        ...described('Pay an invoice, or go on with a payment by a way of shipping'),
        params: PersonParams,
        body: Pay,
        response: answers(Payment),
      },
    },
    async (request, reply) => {
      const { body, params } = request
      const { shipping_option_id: option, tip_amount: tip, order_info, wait_seconds } = body
      const order = order_info && present(order_info)
      const paid = await network(request).checkout.pay(
        params.person,
        { for: payableOf(body), ...present({ option, order }), ...(tip > 0 && { tip }) },
        deadline(wait_seconds, goneSignal(reply)),
      )
      return ok(paymentBody(paid))
    },
  )

  app.post(
    '/people/:person/subscriptions',
    {
      schema: {
        ...described('End a subscription that this person pays, or take it up again'),
        params: PersonParams,
        body: SubscriptionChange,
        response: answers(Done),
      },
    },
    async (request) => {
      const { charge_id, is_canceled } = request.body
      const { checkout } = network(request)
      await checkout.changeSubscription(request.params.person, charge_id, is_canceled)
      return done
    },
  )
}

export const subscriptionRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/subscriptions',
    {
      schema: {
        ...described('What this person pays for again and again: to bots, and for channels'),
        params: PersonParams,
        response: answers(Type.Array(Subscription)),
      },
    },
    async (request) => {
      const found = await network(request).actions.subscriptions(request.params.person)
      return ok(
        found.map(({ title, stars, expiresAt, charge, isCanceled }) => ({
          title,
          star_count: stars,
          expires_at: expiresAt.toISOString(),
          ...present({ charge_id: charge }),
          is_canceled: isCanceled,
        })),
      )
    },
  )

  app.get(
    '/people/:person/invoice',
    {
      schema: {
        ...described('The invoice that a link leads to'),
        params: PersonParams,
        querystring: Type.Object({ link: Type.String({ minLength: 1, maxLength: 200 }) }),
        response: answers(LinkedInvoice),
      },
    },
    async (request) => {
      const { bot, invoice } = await network(request).checkout.linked(
        request.params.person,
        request.query.link,
      )
      return ok({ bot: nameBody(bot), invoice: invoiceBody(invoice) })
    },
  )
}
