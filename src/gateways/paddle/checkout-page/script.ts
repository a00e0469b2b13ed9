/**
 * Runs after Paddle.js. The transaction is in the address, so `Initialize` opens it.
 * https://developer.paddle.com/paddle-js/methods/paddle-initialize
 *
 * The transaction's `custom_data` names the payment, so that the payer can be sent on to the page
 * where every checkout ends, in the language of this page's address. What a browser says proves
 * nothing, so that page checks for itself.
 */
export const checkoutScript = `'use strict'
// In a block, so that none of our names replaces one of the window's.
{
  const { token, transaction, ...texts } = document.querySelector('main').dataset
  const lang = new URLSearchParams(location.search).get('lang')
  const news = document.getElementById('news')
  const again = document.getElementById('again')
  const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

  function offerAgain(text) {
    news.textContent = text
    again.hidden = false
  }

  function onEvent({ name, data }) {
    const payment = data?.custom_data?.payment_id
    if (name === 'checkout.loaded') news.textContent = texts.open
    if (name === 'checkout.completed') {
      news.textContent = texts.completed
      again.hidden = true
      const query = lang === null ? '' : '?lang=' + encodeURIComponent(lang)
      if (uuid.test(payment)) location.assign('/billing/return/' + payment + query)
    }
    if (name === 'checkout.closed' && data?.status !== 'completed') {
      offerAgain(texts.closed)
    }
    if (name === 'checkout.error') offerAgain(texts.failed)
  }

  function begin() {
    if (token.startsWith('test_')) Paddle.Environment.set('sandbox')
    Paddle.Initialize({ token, eventCallback: onEvent })
    again.addEventListener('click', () => {
      again.hidden = true
      news.textContent = texts.opening
      Paddle.Checkout.open({ transactionId: transaction })
    })
  }

  if (window.Paddle !== undefined) {
    begin()
  } else {
    offerAgain(texts.unloaded)
    again.addEventListener('click', () => location.reload())
  }
}
`
