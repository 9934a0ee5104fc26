/** One link flow: waiting for a code, a password or an act elsewhere, until the account is linked or the flow ends. */

import { accepted, refused } from '../model/protocol.ts'
import { again, cancelling, checking, link, over, toWaiting, turnAway, wanted } from './setup.ts'

export const linkMachine = link.createMachine({
  id: 'link',
  context: ({ input }) => input,
  on: {
    // The account is linked, also if the flow ended while the network answered.
    'link.finished': {
      target: '.linked',
      actions: [
        { type: 'finish', params: ({ event }) => event.credentialId },
        { type: 'reply', params: ({ event }) => accepted(event) },
      ],
    },
  },
  initial: 'judging',
  states: {
    judging: {
      always: [
        { guard: { type: 'is', params: 'linked' }, target: 'linked' },
        { guard: { type: 'is', params: 'cancelled' }, target: 'cancelled' },
        { guard: { type: 'is', params: 'failed' }, target: 'failed' },
        { guard: { type: 'is', params: 'expired' }, target: 'expired' },
        { guard: 'isPast', target: 'expired', actions: { type: 'save', params: 'expired' } },
        { guard: { type: 'is', params: 'password_needed' }, target: 'open.password_needed' },
        { guard: { type: 'is', params: 'waiting' }, target: 'open.waiting' },
        { target: 'open.code_sent' },
      ],
    },
    open: {
      after: { expiry: { target: 'expired', actions: { type: 'save', params: 'expired' } } },
      on: {
        'step.reached': [
          toWaiting('code_sent'),
          toWaiting('password_needed'),
          toWaiting('waiting'),
        ],
        'link.refused': {
          target: 'failed',
          actions: [
            { type: 'blame', params: ({ event }) => event.reason },
            { type: 'save', params: 'failed' },
            {
              type: 'reply',
              params: ({ event }) =>
                refused(event, {
                  code: 'bad_request',
                  description: event.description,
                  reason: event.reason,
                  ...event.why,
                }),
            },
          ],
        },
        'link.cancel': { target: 'cancelled', actions: cancelling },
      },
      initial: 'code_sent',
      states: {
        code_sent: {
          on: {
            'link.verify': [
              {
                guard: { type: 'hasCode', params: ({ event }) => event },
                target: 'checking_code',
                actions: { type: 'answer', params: ({ event }) => event },
              },
              turnAway(wanted('the code')),
            ],
            'link.resend': [
              {
                guard: { type: 'tooSoon', params: ({ event }) => event.now },
                actions: {
                  type: 'reply',
                  params: ({ event, context }) =>
                    refused(event, {
                      code: 'rate_limited',
                      description: '',
                      retryAfterSeconds: Math.ceil(
                        ((context.step?.resendAt ?? 0) - event.now) / 1000,
                      ),
                    }),
                },
              },
              {
                target: 'checking_code',
                actions: { type: 'resend', params: ({ event }) => event },
              },
            ],
          },
        },
        checking_code: {
          on: checking('code_sent', 'the code is wrong'),
        },
        password_needed: {
          on: {
            'link.verify': [
              {
                guard: { type: 'hasPassword', params: ({ event }) => event },
                target: 'checking_password',
                actions: { type: 'answer', params: ({ event }) => event },
              },
              turnAway(wanted('the password')),
            ],
            'link.resend': turnAway(wanted('the password')),
          },
        },
        checking_password: {
          on: checking('password_needed', 'the password is wrong'),
        },
        waiting: {
          invoke: { src: 'watch' },
          on: {
            'link.verify': turnAway(wanted('the other device')),
            'link.resend': turnAway(wanted('the other device')),
          },
        },
      },
    },
    linked: { on: { ...over, 'link.verify': again } },
    expired: { on: over },
    // Once more, where it could not be stored or the reply got lost.
    cancelled: { on: { ...over, 'link.cancel': { actions: cancelling } } },
    failed: { on: over },
  },
})
