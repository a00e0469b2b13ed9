/**
 * Runs after Paddle.js. The transaction is in the address, so `Initialize` opens it.
 * https://developer.paddle.com/paddle-js/methods/paddle-initialize
 *
 * The transaction's `custom_data` names the payment, so that the payer can be sent on to the page
 * where every checkout ends. What a browser says proves nothing, so that page checks for itself.
 */
export const checkoutScript = `'use strict'
// In a block, so that none of our names replaces one of the window's.
{
  const { token, transaction } = document.querySelector('main').dataset
  const news = document.getElementById('news')
  const again = document.getElementById('again')
  const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

  function offerAgain(text) {
    news.textContent = text
    again.hidden = false
  }

  function onEvent({ name, data }) {
    const payment = data?.custom_data?.payment_id
    if (name === 'checkout.loaded') news.textContent = 'The checkout is open.'
    if (name === 'checkout.completed') {
      news.textContent = 'Thank you. You can close this page.'
      again.hidden = true
      if (uuid.test(payment)) location.assign('/billing/return/' + payment)
    }
    if (name === 'checkout.closed' && data?.status !== 'completed') {
      offerAgain('The checkout was closed.')
    }
    if (name === 'checkout.error') offerAgain('The checkout could not be opened.')
  }

  function begin() {
    if (token.startsWith('test_')) Paddle.Environment.set('sandbox')
    Paddle.Initialize({ token, eventCallback: onEvent })
    again.addEventListener('click', () => {
      again.hidden = true
      news.textContent = 'Opening the checkout…'
      Paddle.Checkout.open({ transactionId: transaction })
    })
  }

  if (window.Paddle !== undefined) {
    begin()
  } else {
    offerAgain('The checkout could not be loaded.')
    again.addEventListener('click', () => location.reload())
  }
}
`
